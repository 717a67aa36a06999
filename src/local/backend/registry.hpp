// All backends: the one place that knows them. A new one is a line here, and its folder in src/local/CMakeLists.txt.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend_record.hpp"
#include "compute/compute_backend.hpp"
#include "gl/raster/raster_backend.hpp"
#include "openblas/openblas_backend.hpp"
#include "reference/reference_backend.hpp"
#include "vulkan/vk_compute.hpp"

namespace glinpack {

inline constexpr std::array registered_backends{
    &reference_record,
    &openblas_record,
    &gl_compute_record,
    &gl_raster_record,
    &vk_compute_record,
};

std::vector<std::string> backend_names();

/// Null if no backend has this name, as "auto".
const BackendRecord* find_backend(std::string_view name);
/// Throws std::runtime_error, naming all backends, if none has this name.
const BackendRecord& backend_record(std::string_view name);
/// The options of all backends, each name once.
std::vector<BackendOption> all_backend_options();
/// Their values by default.
BackendValues default_backend_values();
/// The names of the backends for which `claim` is true: "gl-compute or gl-raster".
std::string backends_with(const std::function<bool(const BackendRecord&)>& claim);
/// Whether it is the name of a backend that computes in a device's memory.
bool computes_on_device(std::string_view name);
/// Whether it is the name of a backend with the white paper's row-by-row algorithm.
bool can_factorize_row_by_row(std::string_view name);
/// The backends that "auto" may take for matrices in this memory, the preferred first.
std::vector<const BackendRecord*> automatic_backends(MemorySpace memory);
/// The preferred one.
const BackendRecord& automatic_backend(MemorySpace memory);
/// The one for devices of this API.
const BackendRecord& automatic_backend(std::string_view api);
/// The devices of the named backend; of "auto" and of backends in host memory, those of automatic_backend(device).
const DeviceCatalog& device_catalog(std::string_view backend = "auto");
/// The devices of all APIs (same_devices()). Those that an API's selection variable leaves out are not among them.
std::vector<std::vector<DeviceDescription>> list_all_devices();
/// The devices of the named backend, by their indices among all devices; of "auto", best_of() each device.
std::vector<DeviceDescription> list_devices(std::string_view backend);

/// Throws std::runtime_error, naming the cause and the remedy, if the backend cannot run here.
template <class Real>
std::unique_ptr<Backend<Real>> make_backend(std::string_view name, const BackendOptions& options, Timeline& timeline);

}  // namespace glinpack
