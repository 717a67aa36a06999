#include "backend/device_catalog.hpp"

#include <stdexcept>

namespace glinpack {

int device_for_local_rank(const std::vector<DeviceDescription>& devices, int local_rank, bool software_allowed) {
  for (const bool software : {false, true}) {
    if (software && !software_allowed) break;
    std::vector<int> candidates;
    for (const DeviceDescription& device : devices) {
      if (device.usable && device.software == software) candidates.push_back(device.index);
    }
    if (!candidates.empty()) return candidates[static_cast<std::size_t>(local_rank) % candidates.size()];
  }
  return -1;
}

const TileTrial& Tuning::best() const {
  const TileTrial* best = nullptr;
  for (const TileTrial& trial : trials) {
    if (trial.right && (!best || trial.rate.median > best->rate.median)) best = &trial;
  }
  if (!best) throw std::runtime_error("no tile computes the right results on " + device.renderer);
  return *best;
}

}  // namespace glinpack
