// Peer copies of NVIDIA's GPUs by CUDA's driver interface, which is opened at run time: Vulkan itself does not share
// memory with another process's GPU. Windows are CUDA's memory, which Vulkan can import. Copies from another GPU's
// memory run beside the GPU's kernels; those within its own take turns with Vulkan's kernels, and stop
// them (results/h200-x2/logs.md copies-beside-kernels).
#pragma once

#include <memory>
#include <string_view>

#include "backend/peer_memory.hpp"

namespace glinpack {

/// Whether there is a driver with a GPU.
bool cuda_is_usable();

/// Memory of the GPU with this UUID (DeviceDescription::uuid). Throws std::runtime_error if the driver does not have
/// it.
std::unique_ptr<PeerMemory> open_cuda_memory(std::string_view uuid);

}  // namespace glinpack
