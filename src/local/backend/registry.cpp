#include "backend/registry.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace glinpack {

std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  for (const BackendRecord* record : registered_backends) names.emplace_back(record->name);
  return names;
}

const BackendRecord* find_backend(std::string_view name) {
  for (const BackendRecord* record : registered_backends) {
    if (record->name == name) return record;
  }
  return nullptr;
}

const BackendRecord& backend_record(std::string_view name) {
  if (const BackendRecord* record = find_backend(name)) return *record;
  throw std::runtime_error(fmt::format("unknown backend '{}'; there are: {}", name, fmt::join(backend_names(), " ")));
}

std::vector<BackendOption> all_backend_options() {
  std::vector<BackendOption> all;
  for (const BackendRecord* record : registered_backends) {
    for (const BackendOption& option : record->options) {
      if (std::ranges::find(all, option.name, &BackendOption::name) == all.end()) all.push_back(option);
    }
  }
  return all;
}

BackendValues default_backend_values() {
  BackendValues values;
  for (const BackendOption& option : all_backend_options()) values.emplace(option.name, "");
  return values;
}

std::string backends_with(const std::function<bool(const BackendRecord&)>& claim) {
  std::string names;
  for (const BackendRecord* record : registered_backends) {
    if (claim(*record)) names += (names.empty() ? "" : " or ") + std::string(record->name);
  }
  return names;
}

bool computes_on_device(std::string_view name) {
  const BackendRecord* record = find_backend(name);
  return record != nullptr && record->memory == MemorySpace::device;
}

bool can_factorize_row_by_row(std::string_view name) {
  const BackendRecord* record = find_backend(name);
  return record != nullptr && record->row_by_row;
}

std::vector<const BackendRecord*> automatic_backends(MemorySpace memory) {
  std::vector<const BackendRecord*> found;
  for (const BackendRecord* record : registered_backends) {
    if (record->automatic && record->memory == memory) found.push_back(record);
  }
  return found;
}

const BackendRecord& automatic_backend(MemorySpace memory) { return *automatic_backends(memory).front(); }

const BackendRecord& automatic_backend(std::string_view api) {
  for (const BackendRecord* record : automatic_backends(MemorySpace::device)) {
    if (record->devices->api == api) return *record;
  }
  throw std::logic_error("no backend is automatic on devices of " + std::string(api));
}

const DeviceCatalog& device_catalog(std::string_view backend) {
  const BackendRecord* record = find_backend(backend);
  const bool has_devices = record != nullptr && record->devices != nullptr;
  return *(has_devices ? *record : automatic_backend(MemorySpace::device)).devices;
}

std::vector<std::vector<DeviceDescription>> list_all_devices() {
  std::vector<std::vector<DeviceDescription>> by_api;
  std::size_t selected = 0;
  for (const BackendRecord* record : automatic_backends(MemorySpace::device)) {
    const DeviceCatalog& catalog = *record->devices;
    by_api.push_back(catalog.list());
    if (!catalog.selection.empty() && std::getenv(catalog.selection.data()) != nullptr) selected = by_api.back().size();
  }
  std::vector<std::vector<DeviceDescription>> devices = same_devices(by_api);
  if (selected > 0) devices.resize(selected);
  return devices;
}

std::vector<DeviceDescription> list_devices(std::string_view backend) {
  const DeviceCatalog& catalog = device_catalog(backend);
  const bool is_automatic = !computes_on_device(backend);
  // the first API counts the devices
  if (!is_automatic && &catalog == automatic_backend(MemorySpace::device).devices) return catalog.list();
  std::vector<DeviceDescription> devices;
  for (const std::vector<DeviceDescription>& apis : list_all_devices()) {
    if (is_automatic) devices.push_back(best_of(apis));
    for (const DeviceDescription& one : apis) {
      if (!is_automatic && one.api == catalog.api) devices.push_back(one);
    }
  }
  return devices;
}

template <class Real>
std::unique_ptr<Backend<Real>> make_backend(std::string_view name, const BackendOptions& options, Timeline& timeline) {
  const BackendRecord& record = backend_record(name);
  if (const auto make = record.factory<Real>()) return (*make)(options, timeline);
  constexpr Precision other = precision_of<Real> == Precision::single ? Precision::double_ : Precision::single;
  const std::string_view precision = name_of(other);
  throw std::runtime_error(
      fmt::format("the backend {} computes in {} precision only: use --precision {}", name, precision, precision));
}

template std::unique_ptr<Backend<float>> make_backend(std::string_view, const BackendOptions&, Timeline&);
template std::unique_ptr<Backend<double>> make_backend(std::string_view, const BackendOptions&, Timeline&);

}  // namespace glinpack
