// Backends by name: the one place that knows them all.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "local/backend.hpp"

namespace glinpack {

struct BackendOptions {
  int threads = 1;                    // host threads for arithmetic, >= 1
  int device = 0;                     // EGL device index as `glinpack devices` counts
  std::string shader_directory;       // GLSL files that override the embedded ones; empty: none
  std::string tile;                   // gl-compute: of the reduce kernel; empty: the one tuned, or the built-in one
  bool computed_coordinates = false;  // gl-raster: fragments compute addresses that else come from the vertices
  bool debug_gl = false;              // KHR_debug: any error the driver reports is thrown
};

/// "reference", "openblas", "gl-compute", "gl-raster".
const std::vector<std::string>& backend_names();

/// How often a backend keeps a matrix in the device's memory: gl-raster reads one copy and draws the other.
int copies_on_device(std::string_view name);
/// How many columns a backend sets memory aside for where a matrix has so many: gl-compute keeps whole stripes.
Index columns_on_device(std::string_view name, Index columns);

/// Throws std::runtime_error, naming the cause and the remedy, when the backend cannot run here.
template <class Real>
std::unique_ptr<Backend<Real>> make_backend(std::string_view name, const BackendOptions& options, Timeline& timeline);

}  // namespace glinpack
