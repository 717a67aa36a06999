// One backend of each kind for all tests of a rank: a GL context and its shaders take longer than most tests.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "backend/registry.hpp"
#include "gl/compute/compute_backend.hpp"

namespace glinpack::test {

inline bool has_double_precision(const std::string& backend) { return backend_record(backend).make_double.has_value(); }

template <class Real>
struct KeptBackend {
  Timeline timeline;
  std::unique_ptr<Backend<Real>> backend;
};

template <class Real>
std::map<std::string, KeptBackend<Real>>& kept_backends() {
  static std::map<std::string, KeptBackend<Real>> backends;
  return backends;
}

/// gl-compute, whose transfers all run beside its kernels.
inline constexpr const char* queued_backend = "gl-compute, queued";

template <class Real>
std::unique_ptr<Backend<Real>> make_test_backend(const std::string& name, Timeline& timeline) {
  if (name != queued_backend) return make_backend<Real>(name, BackendOptions{}, timeline);
  return make_compute_backend<Real>(BackendOptions{}, timeline, ComputeLimits{.queued_bytes = 1});
}

/// By the name of a backend, or queued_backend. With an empty timeline.
template <class Real>
KeptBackend<Real>& kept_backend(const std::string& name) {
  KeptBackend<Real>& kept = kept_backends<Real>()[name];
  if (!kept.backend) kept.backend = make_test_backend<Real>(name, kept.timeline);
  kept.backend->wait_all();
  kept.backend->collect_timings();
  kept.timeline.restart();
  return kept;
}

/// Before the program ends: GL drivers do not outlive main.
inline void forget_backends() {
  kept_backends<float>().clear();
  kept_backends<double>().clear();
}

}  // namespace glinpack::test
