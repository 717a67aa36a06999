#include "local/gl/egl_devices.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>

namespace glinpack::gl {
namespace {

constexpr const char* visible_devices_variable = "EGL_VISIBLE_DEVICES";

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
  // Some drivers select by the variable, others do not. It is hidden from them while they list their devices, so that
  // the selection is made once.
  unsetenv(visible_devices_variable);
  const std::vector<EGLDeviceEXT> devices = all_devices();
  setenv(visible_devices_variable, selection->c_str(), 1);
  std::vector<EGLDeviceEXT> visible;
  for (int index : selected_devices(*selection, static_cast<int>(devices.size()))) {
    visible.push_back(devices[static_cast<std::size_t>(index)]);
  }
  return visible;
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

const std::vector<EGLDeviceEXT>& egl_devices() {
  static const std::vector<EGLDeviceEXT> devices = visible_devices();
  return devices;
}

EGLDisplay display_of(EGLDeviceEXT device) {
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

}  // namespace glinpack::gl
