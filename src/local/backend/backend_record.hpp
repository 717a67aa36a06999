// The description of a backend for the rest of the program. Each backend's folder defines one record; registry.hpp
// lists them.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "backend/backend.hpp"

namespace glinpack {

/// Where the memory of a GPU's matrices comes from. automatic: Vulkan if it works on this GPU, else OpenGL.
enum class DeviceMemory { automatic, opengl, vulkan };
inline constexpr std::array all_device_memories{DeviceMemory::automatic, DeviceMemory::opengl, DeviceMemory::vulkan};
constexpr std::string_view name_of(DeviceMemory memory) {
  return memory == DeviceMemory::automatic ? "auto" : memory == DeviceMemory::opengl ? "opengl" : "vulkan";
}

struct BackendOptions {
  int threads = 1;                    // host threads for arithmetic, >= 1
  int device = 0;                     // EGL device index as `glinpack devices` counts
  std::string shader_directory;       // GLSL files that override the embedded ones; empty: none
  std::string tile;                   // of the update's kernel; empty: the one tuned, or the built-in one
  bool computed_coordinates = false;  // fragments compute addresses instead of interpolating them
  DeviceMemory device_memory = DeviceMemory::opengl;
  bool debug_gl = false;  // KHR_debug: any error the driver reports is thrown
};

/// Where a backend computes and keeps its matrices. device: BackendOptions::device.
enum class MemorySpace { host, device };

struct BackendRecord {
  /// Throws std::runtime_error, naming the cause and the remedy, if the backend cannot run here.
  template <class Real>
  using Factory = std::unique_ptr<Backend<Real>> (*)(const BackendOptions&, Timeline&);

  std::string_view name;  // of --backend, and BackendInfo::backend
  /// Empty: the backend does not compute in this precision. Optional, not null: with the undefined behaviour sanitizer,
  /// GCC takes no comparison of a function's address as a constant.
  std::optional<Factory<float>> make_single{};
  std::optional<Factory<double>> make_double{};
  MemorySpace memory = MemorySpace::host;
  /// `--backend auto` may choose it: the first of the registry in device memory if all ranks have a GPU, else the first
  /// in host memory. `glinpack plan` and `glinpack peaks` know these backends alone.
  bool automatic = false;

  /// NB unless it is given, for factors of a precision and order N, from measurements.
  Index (*block_size)(Precision factors, Index n) = nullptr;
  /// If each process has a GPU of one host, a grid of one process row is faster than a square one.
  bool one_process_row = false;

  int copies_on_device = 1;  // of a matrix
  Index stripe_width = 0;    // wider matrices take memory for whole stripes of this many columns; 0: for their own

  bool row_by_row = false;  // has the white paper's algorithm (row_by_row.hpp), so that local pivoting is the default
  bool panels_on_device = false;  // has make_tournament_panel() and make_partial_panel()
  bool tiled = false;             // takes BackendOptions::tile
  bool reproducible = false;      // the same factors, bit for bit, on every grid and with every block size

  template <class Real>
  constexpr std::optional<Factory<Real>> factory() const {
    if constexpr (std::is_same_v<Real, float>) {
      return make_single;
    } else {
      return make_double;
    }
  }
  /// The number of columns allocated for a matrix of `columns` columns.
  constexpr Index columns_on_device(Index columns) const {
    if (stripe_width == 0 || columns <= stripe_width) return columns;
    return (columns + stripe_width - 1) / stripe_width * stripe_width;
  }
};

}  // namespace glinpack
