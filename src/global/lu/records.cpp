#include "lu/records.hpp"

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "mpi/communication.hpp"
#include "mpi/session.hpp"

namespace glinpack {

namespace {

using nlohmann::json;

std::string dumped(const json& document) { return document.dump(-1, ' ', false, json::error_handler_t::replace); }

// JSON has no NaN.
json number(double value) { return sensors::known(value) ? json(value) : json(); }
double number(const json& value) { return value.is_null() ? sensors::unknown : value.get<double>(); }

json describe_power(const PowerRecord& record) {
  json read = json::array();
  for (const SensorRecord& sensor : record.read) {
    const sensors::SensorInfo& info = sensor.info;
    read.push_back({{"kind", static_cast<int>(info.kind)},
                    {"id", info.id},
                    {"name", info.name},
                    {"source", info.source},
                    {"most", number(info.most_core_megahertz)},
                    {"limit", number(info.power_limit_watts)},
                    {"samples", sensor.samples.size()}});
  }
  json unread = json::array();
  for (const sensors::Unread& each : record.unread) unread.push_back({static_cast<int>(each.kind), each.why});
  return {{"machine", record.machine}, {"gpu", record.gpu}, {"unread", std::move(unread)}, {"read", std::move(read)}};
}

PowerRecord parse_power(const std::string& description, const std::vector<sensors::Sample>& samples) {
  const json document = json::parse(description);
  PowerRecord record{.machine = document.at("machine"), .gpu = document.at("gpu"), .unread = {}, .read = {}};
  for (const json& each : document.at("unread")) {
    record.unread.push_back({static_cast<sensors::Kind>(each.at(0).get<int>()), each.at(1)});
  }
  auto first = samples.begin();
  for (const json& sensor : document.at("read")) {
    const auto end = first + sensor.at("samples").get<std::ptrdiff_t>();
    record.read.push_back({.info = {.kind = static_cast<sensors::Kind>(sensor.at("kind").get<int>()),
                                    .id = sensor.at("id"),
                                    .name = sensor.at("name"),
                                    .source = sensor.at("source"),
                                    .most_core_megahertz = number(sensor.at("most")),
                                    .power_limit_watts = number(sensor.at("limit"))},
                           .samples = {first, end}});
    first = end;
  }
  return record;
}

std::string describe_rank(const ProcessGrid& grid, const BackendInfo& info, std::int64_t displaced_bytes) {
  const int world_rank = rank_in(MPI_COMM_WORLD);
  return dumped({{"world_rank", world_rank},
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
                 {"displaced_bytes", displaced_bytes}});
}

RankRecord parse_rank(const std::string& description) {
  const json document = json::parse(description);
  RankRecord record;
  record.world_rank = document.at("world_rank");
  record.row = document.at("row");
  record.column = document.at("column");
  record.host = document.at("host");
  record.backend.backend = document.at("backend");
  record.backend.device = document.at("device");
  record.backend.driver = document.at("driver");
  record.backend.blas = document.at("blas");
  record.backend.kernels = document.at("kernels");
  record.backend.threads = document.at("threads");
  record.backend.software_gl = document.at("software_gl");
  record.backend.device_index = document.at("device_index");
  record.backend.free_bytes = document.at("free_bytes");
  record.displaced_bytes = document.at("displaced_bytes");
  return record;
}

// Every rank's record, in the grid's rank order, on rank (0, 0); empty elsewhere. Collective.
std::vector<PowerRecord> gather_power_records(const ProcessGrid& grid, const PowerRecord& mine) {
  std::vector<sensors::Sample> my_samples;
  for (const SensorRecord& sensor : mine.read) {
    my_samples.insert(my_samples.end(), sensor.samples.begin(), sensor.samples.end());
  }
  const auto descriptions = gather_bytes(grid.all(), dumped(describe_power(mine)), 0);
  const auto samples = gather_bytes(grid.all(), as_bytes(my_samples), 0);
  std::vector<PowerRecord> records;
  for (std::size_t rank = 0; rank < descriptions.size(); ++rank) {
    records.push_back(parse_power(descriptions[rank], from_bytes<sensors::Sample>(samples[rank])));
  }
  return records;
}

}  // namespace

std::vector<std::vector<std::size_t>> sensor_shares(const std::vector<std::string>& machines,
                                                    const std::vector<std::vector<std::string>>& ids) {
  std::set<std::pair<std::string, std::string>> taken;
  std::vector<std::vector<std::size_t>> shares(machines.size());
  for (std::size_t rank = 0; rank < machines.size(); ++rank) {
    for (std::size_t place = 0; place < ids[rank].size(); ++place) {
      if (taken.insert({machines[rank], ids[rank][place]}).second) shares[rank].push_back(place);
    }
  }
  return shares;
}

std::vector<sensors::Sensor*> share_of(const ProcessGrid& grid, const RankSensors& mine) {
  std::vector<std::string> my_ids;
  for (const auto& sensor : mine.found) my_ids.push_back(sensor->info().id);
  std::string shares;
  const std::vector<std::string> all = gather_bytes(grid.all(), dumped({mine.machine, my_ids}), 0);
  if (grid.is_root()) {
    std::vector<std::string> machines;
    std::vector<std::vector<std::string>> ids;
    for (const std::string& text : all) {
      const json rank = json::parse(text);
      machines.push_back(rank.at(0));
      ids.push_back(rank.at(1).get<std::vector<std::string>>());
    }
    shares = dumped(sensor_shares(machines, ids));
  }
  broadcast_bytes(grid.all(), shares, 0);
  const int rank = rank_in(grid.all());
  std::vector<sensors::Sensor*> share;
  const json of_ranks = json::parse(shares);
  for (const json& place : of_ranks.at(static_cast<std::size_t>(rank))) {
    share.push_back(mine.found[place.get<std::size_t>()].get());
  }
  return share;
}

PowerRecord power_record(const RankSensors* mine, sensors::Sampler& sampler,
                         sensors::Sampler::Clock::time_point epoch) {
  PowerRecord record;
  if (mine == nullptr) return record;
  record.machine = mine->machine;
  record.gpu = mine->gpu;
  record.unread = mine->unread;
  std::vector<std::vector<sensors::Sample>> samples = sampler.stop(epoch);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    record.read.push_back({sampler.sensors()[i]->info(), std::move(samples[i])});
  }
  return record;
}

std::string name_of(const RankRecord& rank) {
  return "rank " + std::to_string(rank.world_rank) + " on " + rank.host + ", device " + rank.backend.device;
}

std::string name_of_faulty(const RankRecord& found_by, const Mismatch& mismatch, std::span<const RankRecord> ranks,
                           Index every) {
  const bool moved = every > 1 && (mismatch.part == CheckedPart::trailing_matrix || mismatch.part == CheckedPart::u);
  const auto is_suspect = [&](const RankRecord& rank) {
    if (mismatch.part == CheckedPart::solution) return rank.row == found_by.row;
    return moved && rank.column == found_by.column;
  };
  std::string others;
  for (const RankRecord& rank : ranks) {
    if (rank.world_rank != found_by.world_rank && is_suspect(rank)) others += ", " + std::to_string(rank.world_rank);
  }
  if (others.empty()) return name_of(found_by);
  return "one of ranks " + std::to_string(found_by.world_rank) + others + ": found by " + name_of(found_by);
}

std::vector<RankRecord> gather_rank_records(const ProcessGrid& grid, const BackendInfo& info,
                                            const std::vector<Interval>& intervals, const PowerRecord& power,
                                            std::int64_t displaced_bytes) {
  const auto descriptions = gather_bytes(grid.all(), describe_rank(grid, info, displaced_bytes), 0);
  const auto timelines = gather_bytes(grid.all(), as_bytes(intervals), 0);
  std::vector<PowerRecord> powers = gather_power_records(grid, power);
  std::vector<RankRecord> records;
  for (std::size_t rank = 0; rank < descriptions.size(); ++rank) {
    records.push_back(parse_rank(descriptions[rank]));
    records.back().intervals = from_bytes<Interval>(timelines[rank]);
    records.back().power = std::move(powers[rank]);
  }
  return records;
}

std::vector<double> gather_solution(const Distribution& distribution, const ProcessGrid& grid,
                                    const std::vector<double>& local) {
  // all ranks of a process column have the same part, so only the first process row sends it to the root
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
