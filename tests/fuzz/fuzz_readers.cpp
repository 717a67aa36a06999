// libFuzzer on the readers of files (llvm.org/docs/LibFuzzer.html). READER in the environment names the reader and its
// folder of tests/fuzz/corpus.tar.gz. InputError is the expected end of bad input. Other exceptions, sanitizers'
// findings and violated properties end the program.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>

#include "app/input/hpl_dat.hpp"
#include "app/input/input_error.hpp"
#include "app/input/matrix_file.hpp"
#include "app/input/text_file.hpp"
#include "app/input/values.hpp"
#include "app/model/measured_runs.hpp"
#include "app/options/plu_options.hpp"
#include "app/record/power_log.hpp"
#include "app/record/result_file.hpp"
#include "app/report/comparison.hpp"
#include "app/report/report_command.hpp"
#include "checkpoint/checkpoint_file.hpp"
#include "device/program_cache.hpp"
#include "kernels/tuning.hpp"

namespace glinpack::app {
namespace {

using Reader = std::function<void(const std::string&)>;

constexpr std::int64_t largest_matrix_bytes = 1 << 20;

void require(bool property, const char* name) {
  if (property) return;
  std::cerr << "violated: " << name << '\n';
  std::abort();
}

void write_file(const std::string& path, const std::string& contents) {
  std::ofstream(path, std::ios::binary) << contents;
}

bool all_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

void read_hpl_dat_file(const std::string& input) {
  TextFiles files({{"HPL.dat", input}});
  require(run_count(read_hpl_dat("HPL.dat", files)) >= 0, "the number of runs is not negative");
}

void read_toml(const std::string& input) {
  TextFiles files({{"plu.toml", input}});
  settings_of("plu.toml", files);
  parse_plu_options({"--config", "plu.toml"}, files);
}

void check_dense(const DenseMatrix& matrix) {
  require(static_cast<Index>(matrix.elements.size()) == matrix.rows * matrix.columns, "every element is set");
  require(all_finite(matrix.elements), "elements are finite");
}

void read_market(const std::string& input) {
  std::istringstream file(input);
  const CoordinateMatrix sparse = read_matrix_market_coordinates(file, "a.mtx", largest_matrix_bytes, MatrixShape::any);
  for (const CoordinateMatrix::Entry& entry : sparse.entries) {
    require(entry.row >= 0 && entry.row < sparse.rows && entry.column >= 0 && entry.column < sparse.columns,
            "entries are within the matrix");
    require(std::isfinite(entry.value), "entries are finite");
  }
  file = std::istringstream(input);
  check_dense(read_matrix_market(file, "a.mtx", largest_matrix_bytes, MatrixShape::any));
}

void read_numpy(const std::string& input) {
  std::istringstream file(input);
  check_dense(read_npy(file, "a.npy", largest_matrix_bytes, MatrixShape::any));
}

void read_power(const std::string& input) {
  const PowerLog log = parse_power_log("pdu.csv", input);
  for (const PowerScope& scope : log.scopes) {
    for (std::size_t i = 0; i < scope.readings.size(); ++i) {
      require(scope.readings[i].watts >= 0 && scope.readings[i].watts <= 1e9, "watts are within their range");
      require(i == 0 || scope.readings[i].seconds > scope.readings[i - 1].seconds, "times rise");
    }
  }
  const double start = log.scopes[0].readings[0].seconds;
  const MeasuredPower power = power_during(log, start, log.scopes[0].readings.back().seconds - start);
  require(power.watts > 0 && std::isfinite(power.watts), "the mean is a positive number");
}

void check_texts(const ResultFile& file) {
  for (const Measurement& measurement : measurements_of(file)) {
    for (const auto& [name, value] : measurement.parameters) {
      require(value == without_controls(value), "texts have no control characters");
    }
  }
}

// What `compare`, `plan --from` and `report` do with a file.
void read_results(const std::string& input) {
  const std::string path = "results.json";
  write_file(path, input);
  const ResultFile file = read_result_file(path);
  const std::vector<std::function<void()>> uses{[&] { check_texts(file); }, [&] { model::read_measured_runs(path); },
                                                [&] { report_page({path}, "title"); }};
  for (const auto& use : uses) {
    try {
      use();
    } catch (const InputError&) {
    }
  }
}

void read_tuning(const std::string& input) {
  const compute::TileCache tiles(".");
  const DeviceDescription device;
  write_file(tiles.path_of(device, Precision::single), input);
  const std::optional<compute::UpdateTile> tile = tiles.load(device, Precision::single);
  require(!tile || std::ranges::count(compute::update_tiles(Precision::single), *tile) > 0, "the tile is known");

  const NumberCache numbers("rate", ".");
  write_file(numbers.path_of("key"), input);
  const std::optional<double> number = numbers.load("key", 1, 1e6);
  require(!number || (*number >= 1 && *number <= 1e6), "the number is within its limits");
}

// The checksum is out of a fuzzer's reach: bytes of a valid file are replaced, at the place that the first byte says.
void read_program(const std::string& input) {
  const ProgramCache cache(".");
  const std::string path = cache.path_of("key");
  write_file(path, input);
  require(!cache.load("key"), "a file that is not the cache's is not believed");

  const ProgramBinary binary{1, std::vector<char>(64, 'x')};
  cache.store("key", binary);
  const std::optional<ProgramBinary> stored = cache.load("key");
  require(stored && stored->bytes == binary.bytes, "a stored binary is loaded");
  if (input.empty()) return;
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<unsigned char>(input.front()));
  file << input.substr(1) << std::flush;
  const std::optional<ProgramBinary> changed = cache.load("key");
  require(!changed || changed->bytes == binary.bytes, "a changed binary is not believed");
}

// Any bytes; then bytes of a valid file are replaced, at the place that the first two bytes say.
void read_checkpoint(const std::string& input) {
  const std::string path = "checkpoint";
  const auto is_whole = [&] {
    try {
      verify_checkpoint_file(path);
      return true;
    } catch (const CheckpointError&) {
      return false;
    }
  };
  write_file(path, input);
  is_whole();

  const CheckpointHeader header{.options = {{"n", "4"}},
                                .run = "5f3a01c2",
                                .pass = 1,
                                .rows = 4,
                                .columns = 5,
                                .piece_rows = 4,
                                .element = 8,
                                .pivots = 2};
  const std::vector<GlobalIndex> pivots{GlobalIndex(3), GlobalIndex(1)};
  const std::vector<std::byte> piece(4 * header.bytes_of_row(), std::byte{7});
  CheckpointWriter writer(path, header, pivots);
  writer.add(piece);
  writer.finish();
  require(is_whole(), "a written file is whole");
  if (input.size() < 3) return;
  std::stringstream before, after;
  before << std::ifstream(path, std::ios::binary).rdbuf();
  {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(256 * static_cast<unsigned char>(input[0]) + static_cast<unsigned char>(input[1]));
    file << input.substr(2);
  }
  after << std::ifstream(path, std::ios::binary).rdbuf();
  require(!is_whole() || before.str() == after.str(), "a changed file is not believed");
}

const Reader& chosen_reader() {
  static const std::map<std::string, Reader> readers{{"hpl_dat", read_hpl_dat_file}, {"toml", read_toml},
                                                     {"matrix_market", read_market}, {"npy", read_numpy},
                                                     {"results", read_results},      {"tuning_cache", read_tuning},
                                                     {"power_log", read_power},      {"program_cache", read_program},
                                                     {"checkpoint", read_checkpoint}};
  const char* name = std::getenv("READER");
  const auto found = readers.find(name != nullptr ? name : "");
  if (found != readers.end()) return found->second;
  std::cerr << "READER: one of";
  for (const auto& [known, reader] : readers) std::cerr << ' ' << known;
  std::cerr << '\n';
  std::exit(2);
}

}  // namespace
}  // namespace glinpack::app

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const glinpack::app::Reader& read = glinpack::app::chosen_reader();
  try {
    read(std::string(reinterpret_cast<const char*>(data), size));
  } catch (const glinpack::app::InputError&) {
  }
  return 0;
}
