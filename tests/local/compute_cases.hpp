// The backend of compute devices on every GPU API, in each precision, as types of typed tests.
#pragma once

#include <gmock/gmock.h>

#include <memory>
#include <string>

#include "base/precision.hpp"
#include "gl/gl_compute.hpp"
#include "vulkan/vk_compute.hpp"

namespace glinpack::test {

template <class RealType, const BackendRecord& of_api,
          std::shared_ptr<ComputeDevice> (*open_device)(const BackendOptions&)>
struct ComputeCase {
  using Real = RealType;
  static constexpr const BackendRecord& record = of_api;
  /// A usable device, hardware preferred. -1: none.
  static int any_device() { return device_for_local_rank(record.devices->list(), 0, true); }
  static std::shared_ptr<ComputeDevice> open(const BackendOptions& options) { return open_device(options); }
  static std::unique_ptr<Backend<Real>> make(const BackendOptions& options, Timeline& timeline,
                                             const ComputeLimits& limits = {}) {
    return make_compute_backend<Real>(open(options), record.name, options, timeline, limits);
  }
};

template <class Real>
using GlCase = ComputeCase<Real, gl_compute_record, gl::open_device>;
template <class Real>
using VkCase = ComputeCase<Real, vk_compute_record, vulkan::open_compute_device>;
using ComputeCases = testing::Types<GlCase<float>, GlCase<double>, VkCase<float>, VkCase<double>>;
/// Each GPU API once, for claims that do not depend on the precision.
using ApiCases = testing::Types<GlCase<float>, VkCase<float>>;

/// "gl_" or "vk_", by which CTest's filters find tests of an API.
template <class Case>
std::string api_name() {
  return std::string(Case::record.name.substr(0, 2)) + "_";
}
struct ComputeCaseNames {
  template <class Case>
  static std::string GetName(int) {
    return api_name<Case>() + std::string(name_of(precision_of<typename Case::Real>));
  }
};

}  // namespace glinpack::test
