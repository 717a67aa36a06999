// Caches one backend of each kind for all tests of a rank: creating a GL context and its shaders takes longer than
// most tests.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "backend/registry.hpp"
#include "gl/gl_compute.hpp"
#include "tests/global/world.hpp"
#include "vulkan/vk_compute.hpp"

namespace glinpack::test {

inline bool has_double_precision(const std::string& backend) { return backend_record(backend).make_double.has_value(); }

template <class Real>
struct CachedBackend {
  Timeline timeline;
  std::unique_ptr<Backend<Real>> backend;
};

template <class Real>
std::map<std::string, CachedBackend<Real>>& cached_backends() {
  static std::map<std::string, CachedBackend<Real>> backends;
  return backends;
}

/// gl-compute and vk-compute as on a GPU, with every transfer overlapping its kernels.
inline constexpr const char* queued_backend = "gl-compute, queued";
inline constexpr const char* queued_vulkan = "vk-compute, queued";

template <class Real>
std::unique_ptr<Backend<Real>> make_test_backend(const std::string& name, Timeline& timeline) {
  const ComputeLimits limits{.queued_bytes = 1};
  const BackendOptions options{.debug = name.starts_with("vk-compute")};  // with Vulkan's validation layer
  if (name == queued_backend) return make_gl_compute_backend<Real>(options, timeline, limits);
  if (name == queued_vulkan) return make_vk_compute_backend<Real>(options, timeline, limits);
  return make_backend<Real>(name, options, timeline);
}

/// Returns the backend `name` (the queued ones, too) with an empty timeline.
template <class Real>
CachedBackend<Real>& cached_backend(const std::string& name) {
  CachedBackend<Real>& cached = cached_backends<Real>()[name];
  if (!cached.backend) cached.backend = make_test_backend<Real>(name, cached.timeline);
  cached.backend->wait_all();
  cached.backend->collect_timings();
  cached.timeline.restart();
  return cached;
}

/// A parameter as a part of a test's name.
inline std::string identifier(std::string name) {
  std::erase_if(name, [](char c) { return c == ',' || c == ' '; });
  std::ranges::replace(name, '-', '_');
  return name;
}
inline std::string backend_identifier(const testing::TestParamInfo<std::string>& info) {
  return identifier(info.param);
}

/// Call before main returns: GL drivers do not outlive it.
inline void destroy_cached_backends() {
  cached_backends<float>().clear();
  cached_backends<double>().clear();
}

}  // namespace glinpack::test
