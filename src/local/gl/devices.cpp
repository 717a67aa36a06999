#include "gl/devices.hpp"

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <spdlog/spdlog.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <optional>
#include <stdexcept>

#include "gl/context.hpp"

#ifndef EGL_CUDA_DEVICE_NV
#define EGL_CUDA_DEVICE_NV 0x323A
#endif

namespace glinpack::gl {
namespace {

/// A function that EGL's headers declare only as a type; null if this EGL lacks it.
template <class Function>
Function egl_function(const char* name) {
  return reinterpret_cast<Function>(eglGetProcAddress(name));
}

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? std::optional<std::string>(value) : std::nullopt;
}

std::vector<EGLDeviceEXT> all_devices() {
  const auto query = egl_function<PFNEGLQUERYDEVICESEXTPROC>("eglQueryDevicesEXT");
  EGLint count = 0;
  if (!query || !query(0, nullptr, &count) || count <= 0) return {};
  std::vector<EGLDeviceEXT> devices(static_cast<std::size_t>(count));
  if (!query(count, devices.data(), &count)) return {};
  devices.resize(static_cast<std::size_t>(count));
  return devices;
}

std::vector<EGLDeviceEXT> visible_devices() {
  const std::optional<std::string> selection = environment(visible_devices_variable);
  if (!selection) return all_devices();
  // Some drivers apply the variable, others do not. It is unset while they list their devices, so that the selection is
  // applied once.
  unsetenv(visible_devices_variable);
  const std::vector<EGLDeviceEXT> devices = all_devices();
  setenv(visible_devices_variable, selection->c_str(), 1);
  std::vector<EGLDeviceEXT> visible;
  for (int index : selected_devices(*selection, static_cast<int>(devices.size()))) {
    visible.push_back(devices[static_cast<std::size_t>(index)]);
  }
  return visible;
}

/// Describes a device by EGL's queries, without opening it.
void describe_by_egl(EGLDeviceEXT device, DeviceDescription& description) {
  const auto device_string = egl_function<PFNEGLQUERYDEVICESTRINGEXTPROC>("eglQueryDeviceStringEXT");
  const auto device_attribute = egl_function<PFNEGLQUERYDEVICEATTRIBEXTPROC>("eglQueryDeviceAttribEXT");
  const char* listed = device_string ? device_string(device, EGL_EXTENSIONS) : nullptr;
  const std::string extensions = listed ? listed : "";
  if (extensions.find("EGL_EXT_device_drm") != std::string::npos) {
    if (const char* file = device_string(device, EGL_DRM_DEVICE_FILE_EXT)) description.drm_file = file;
  }
  if (device_attribute && extensions.find("EGL_NV_device_cuda") != std::string::npos) {
    EGLAttrib ordinal = -1;
    if (device_attribute(device, EGL_CUDA_DEVICE_NV, &ordinal)) description.cuda_ordinal = static_cast<int>(ordinal);
  }
  // Mesa reports its software device here, so that it is recognised even if it does not open.
  description.software = extensions.find("EGL_MESA_device_software") != std::string::npos;
}

// Without memory Mesa 22.3 crashes in eglCreateContext.
void check_address_space() {
  constexpr std::size_t bytes = std::size_t{512} << 20;
  void* const space = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) {
    throw std::runtime_error("an OpenGL driver needs 512 MiB of address space: raise the limit (ulimit -v)");
  }
  munmap(space, bytes);
}

DeviceDescription describe(int index) {
  DeviceDescription description;
  description.index = index;
  try {
    description = Context::create(index)->description();
  } catch (const std::exception& error) {
    const std::string variables = driver_variables_text();
    description.why_unusable = variables + (variables.empty() ? "" : "; ") + error.what();
  }
  const bool software = description.software;
  describe_by_egl(egl_devices()[static_cast<std::size_t>(index)], description);
  description.software = description.software || software;
  return description;
}

}  // namespace

std::vector<int> selected_devices(std::string_view selection, int count) {
  std::vector<int> selected;
  while (!selection.empty()) {
    const std::size_t comma = std::min(selection.find(','), selection.size());
    std::string_view entry = selection.substr(0, comma);
    selection.remove_prefix(std::min(comma + 1, selection.size()));
    while (!entry.empty() && entry.front() == ' ') entry.remove_prefix(1);
    while (!entry.empty() && entry.back() == ' ') entry.remove_suffix(1);
    int index = -1;
    const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), index);
    if (error != std::errc{} || end != entry.data() + entry.size() || index < 0 || index >= count) break;
    if (std::find(selected.begin(), selected.end(), index) == selected.end()) selected.push_back(index);
  }
  return selected;
}

std::vector<std::string> driver_variables() {
  constexpr std::array names{visible_devices_variable, "__EGL_VENDOR_LIBRARY_FILENAMES", "__EGL_VENDOR_LIBRARY_DIRS",
                             "LIBGL_DRIVERS_PATH",     "MESA_GL_VERSION_OVERRIDE",       "GALLIUM_DRIVER"};
  return variables_that_are_set(names);
}

std::string driver_variables_text() {
  std::string text = text_of_variables(driver_variables());
  if (environment(visible_devices_variable)) text += " (EGL_VISIBLE_DEVICES takes indices of EGL devices, such as 0,2)";
  return text;
}

const std::vector<void*>& egl_devices() {
  static const std::vector<EGLDeviceEXT> devices = visible_devices();
  return devices;
}

void* display_of(void* device) {
  check_address_space();
  const auto get_display = egl_function<PFNEGLGETPLATFORMDISPLAYEXTPROC>("eglGetPlatformDisplayEXT");
  if (!get_display) throw std::runtime_error("this EGL has no eglGetPlatformDisplayEXT: install a newer EGL driver");
  EGLDisplay display = get_display(EGL_PLATFORM_DEVICE_EXT, device, nullptr);
  if (display == EGL_NO_DISPLAY) throw std::runtime_error("EGL gives no display for the device");
  if (!eglInitialize(display, nullptr, nullptr)) {
    throw std::runtime_error(
        "EGL cannot open the device (eglInitialize failed): check the permissions of /dev/dri and /dev/nvidia*");
  }
  return display;
}

int device_count() { return static_cast<int>(egl_devices().size()); }

std::vector<DeviceDescription> list_devices() {
  const CurrentContextGuard restore_current_context;
  std::vector<DeviceDescription> devices;
  for (int index = 0; index < device_count(); ++index) {
    const DeviceDescription& device = devices.emplace_back(describe(index));
    spdlog::debug("EGL device {}: {}, {}{}", index, device.renderer, device.software ? "software" : "hardware",
                  device.usable ? "" : ", not usable: " + device.why_unusable);
  }
  return devices;
}

}  // namespace glinpack::gl
