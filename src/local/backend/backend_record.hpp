// The description of a backend for the rest of the program. Each backend's folder defines one record; registry.hpp
// lists them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "backend/backend.hpp"
#include "backend/device_catalog.hpp"

namespace glinpack {

/// Texts by the name of their option.
using BackendValues = std::map<std::string, std::string, std::less<>>;
/// Empty if it is not given.
inline std::string option_value(const BackendValues& values, std::string_view name) {
  const auto found = values.find(name);
  return found == values.end() ? std::string() : found->second;
}

struct BackendOptions {
  int threads = 1;            // host threads for arithmetic, >= 1
  int device = 0;             // its DeviceDescription::index
  bool debug = false;         // any error the driver reports is thrown
  BackendValues values = {};  // of the backend's option table; others are ignored
  std::string uuid = {};      // of the device; empty: `device` counts as the backend's DeviceCatalog

  /// Empty if it is not given.
  std::string value(std::string_view name) const { return option_value(values, name); }
};

/// An option that only some backends have, and that the program passes to them as a text.
struct BackendOption {
  std::string_view name;  // "tile": of --tile, and the key in files
  std::string_view type;  // "NAME", of --help
  std::string_view help;
  std::string_view default_text = {};  // of --help
  /// Throws std::runtime_error that names the valid values. With a check, other backends refuse the option.
  void (*check)(const std::string& value, Precision) = nullptr;
};

/// The user gave an unusable value for an option of the backend.
class BackendOptionError : public std::runtime_error {
 public:
  /// `option`: its name.
  BackendOptionError(std::string_view option, const std::string& message)
      : std::runtime_error(message), option_(option) {}
  const std::string& option() const { return option_; }

 private:
  std::string option_;
};

/// Where a backend computes and keeps its matrices. device: BackendOptions::device.
enum class MemorySpace { host, device };

struct BackendRecord {
  /// Throws std::runtime_error, naming the cause and the remedy, if the backend cannot run here; BackendOptionError for
  /// an unusable option.
  template <class Real>
  using Factory = std::unique_ptr<Backend<Real>> (*)(const BackendOptions&, Timeline&);

  std::string_view name;  // of --backend, and BackendInfo::backend
  /// Empty: the backend does not compute in this precision. Optional, not null: with the undefined behaviour sanitizer,
  /// GCC takes no comparison of a function's address as a constant.
  std::optional<Factory<float>> make_single{};
  std::optional<Factory<double>> make_double{};
  MemorySpace memory = MemorySpace::host;
  const DeviceCatalog* devices = nullptr;  // not null for MemorySpace::device
  const TileCatalog* tiles = nullptr;      // null: the update's kernel has no tiles
  std::span<const BackendOption> options = {};
  /// `--backend auto` may choose it: the fastest in device memory if all ranks have a GPU, else the first of the
  /// registry in host memory. `glinpack plan` and `glinpack peaks` know these backends alone.
  bool automatic = false;

  /// NB unless it is given, for factors of a precision and order N and values of options, from measurements.
  Index (*block_size)(Precision factors, Index n, const BackendValues& values) = nullptr;
  /// If each process has a GPU of one host, a grid of one process row is faster than a square one.
  bool one_process_row = false;

  int copies_on_device = 1;  // of a matrix
  /// Bytes of a matrix, with its copies and padding.
  std::int64_t (*matrix_bytes)(Index rows, Index columns, std::int64_t element_bytes) = nullptr;
  /// Bytes of Backend::reserve_update() with these values of options. Null: none.
  std::int64_t (*update_bytes)(const BackendValues& values, Index depth, Index rows, Index columns) = nullptr;

  bool row_by_row = false;  // has the white paper's algorithm (row_by_row.hpp), so that local pivoting is the default
  bool panels_on_device = false;  // has make_tournament_panel() and make_partial_panel()
  bool reproducible = false;      // the same factors, bit for bit, on every grid and with every block size

  template <class Real>
  constexpr std::optional<Factory<Real>> factory() const {
    if constexpr (std::is_same_v<Real, float>) {
      return make_single;
    } else {
      return make_double;
    }
  }
  constexpr bool has_option(std::string_view option) const {
    return std::ranges::find(options, option, &BackendOption::name) != options.end();
  }
};

}  // namespace glinpack
