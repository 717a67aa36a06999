#include "global/records.hpp"

#include <nlohmann/json.hpp>
#include <string>

#include "global/bytes.hpp"
#include "global/communication.hpp"

namespace glinpack {

namespace {

std::string describe(const ProcessGrid& grid, const BackendInfo& info, std::int64_t displaced_bytes) {
  const int world_rank = rank_in(MPI_COMM_WORLD);
  return nlohmann::json{{"world_rank", world_rank},
                        {"row", grid.position().row},
                        {"column", grid.position().column},
                        {"host", host_name()},
                        {"backend", info.backend},
                        {"device", info.device},
                        {"driver", info.driver},
                        {"blas", info.blas},
                        {"kernels", info.kernels},
                        {"threads", info.threads},
                        {"software_gl", info.software_gl},
                        {"device_index", info.device_index},
                        {"free_bytes", info.free_bytes},
                        {"displaced_bytes", displaced_bytes}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

RankRecord parse(const std::string& description) {
  const nlohmann::json json = nlohmann::json::parse(description);
  RankRecord record;
  record.world_rank = json.at("world_rank");
  record.row = json.at("row");
  record.column = json.at("column");
  record.host = json.at("host");
  record.backend.backend = json.at("backend");
  record.backend.device = json.at("device");
  record.backend.driver = json.at("driver");
  record.backend.blas = json.at("blas");
  record.backend.kernels = json.at("kernels");
  record.backend.threads = json.at("threads");
  record.backend.software_gl = json.at("software_gl");
  record.backend.device_index = json.at("device_index");
  record.backend.free_bytes = json.at("free_bytes");
  record.displaced_bytes = json.at("displaced_bytes");
  return record;
}

}  // namespace

std::vector<RankRecord> gather_rank_records(const ProcessGrid& grid, const BackendInfo& info,
                                            const std::vector<Interval>& intervals, const PowerRecord& power,
                                            std::int64_t displaced_bytes) {
  const auto descriptions = gather_bytes(grid.all(), describe(grid, info, displaced_bytes), 0);
  const auto timelines = gather_bytes(grid.all(), as_bytes(intervals), 0);
  std::vector<PowerRecord> powers = gather_power_records(grid, power);
  std::vector<RankRecord> records;
  for (std::size_t rank = 0; rank < descriptions.size(); ++rank) {
    records.push_back(parse(descriptions[rank]));
    records.back().intervals = from_bytes<Interval>(timelines[rank]);
    records.back().power = std::move(powers[rank]);
  }
  return records;
}

std::vector<double> gather_solution(const Distribution& distribution, const ProcessGrid& grid,
                                    const std::vector<double>& local) {
  // all ranks of a process column have the same part: the first process row tells the root
  if (grid.position().row != 0) return {};
  const auto parts = gather_bytes(grid.row(), as_bytes(local), 0);
  if (!grid.is_root()) return {};
  std::vector<double> x(static_cast<std::size_t>(distribution.n));
  for (std::size_t column = 0; column < parts.size(); ++column) {
    const auto part = from_bytes<double>(parts[column]);
    for (std::size_t j = 0; j < part.size(); ++j) {
      const GlobalIndex to = distribution.columns.global(LocalIndex(static_cast<Index>(j)), static_cast<int>(column));
      x[static_cast<std::size_t>(to.value)] = part[j];
    }
  }
  return x;
}

}  // namespace glinpack
