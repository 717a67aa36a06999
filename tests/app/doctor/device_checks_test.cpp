// The checks of `glinpack doctor` on the requirements of OpenGL and on every rank's device.
#include "tests/app/doctor/doctor_facts.hpp"

namespace glinpack::app::doctor {
namespace {

using nlohmann::json;

TEST(DoctorChecks, container_warns_or_fails_if_opengl_is_missing) {
  Facts facts = healthy(1, 1);
  json& container = facts.ranks[0]["container"];
  container = {{"kind", "Docker"}, {"driver_capabilities", "compute,utility"}, {"visible_devices", "all"}};
  expect_finding(facts, "container", Verdict::ok, "Docker");  // OpenGL works in the container
  facts.ranks[0]["graphics"]["devices"][0]["usable"] = false;
  expect_finding(facts, "container", Verdict::fail, "NVIDIA_DRIVER_CAPABILITIES=compute,utility",
                 "docker run --gpus all");
  container["kind"] = "Apptainer";
  expect_finding(facts, "container", Verdict::fail, "leaves OpenGL's libraries out", "apptainer exec --nv");
  facts.ranks[0]["graphics"]["files"].clear();
  facts.ranks[0]["graphics"]["nvidia_kernel_driver"].clear();
  expect_finding(facts, "container", Verdict::warn, "compute,utility", "NVIDIA_DRIVER_CAPABILITIES=all");
  for (const char* enough : {"all", "graphics", "compute,graphics"}) {
    container["driver_capabilities"] = enough;
    expect_finding(facts, "container", Verdict::ok, enough);
  }
  facts.ranks[0]["graphics"]["nvidia_kernel_driver"] = "580.159";
  expect_finding(facts, "container", Verdict::warn, "no /dev/nvidia files", "NVIDIA_VISIBLE_DEVICES=all");
}

TEST(DoctorChecks, render_nodes_fail_without_permission_if_no_device_works) {
  Facts facts = healthy(1, 1);
  json& graphics = facts.ranks[0]["graphics"];
  expect_finding(facts, "render-nodes", Verdict::ok, "/dev/dri/renderD128, /dev/nvidiactl may be read");
  graphics["files"][0] = device_file("/dev/dri/renderD128", false, "render");
  expect_finding(facts, "render-nodes", Verdict::warn, "no permission", "usermod -aG render");
  graphics["devices"][0]["usable"] = false;
  expect_finding(facts, "render-nodes", Verdict::fail, "/dev/dri/renderD128 (group render)", "usermod -aG render");
  graphics["files"][0]["group"] = "root";
  expect_finding(facts, "render-nodes", Verdict::fail, "group root", "ls -l /dev/dri/renderD128");
  graphics["files"].clear();
  expect_finding(facts, "render-nodes", Verdict::unknown, "neither");
}

TEST(DoctorChecks, devices_warn_or_fail_if_egl_finds_no_usable_device) {
  Facts facts = healthy(1, 1);
  json& graphics = facts.ranks[0]["graphics"];
  expect_finding(facts, "devices", Verdict::ok, "1 EGL device, 1 of them hardware");
  graphics["devices"][0]["usable"] = false;
  graphics["devices"][0]["why_unusable"] = "no OpenGL 4.5";
  expect_finding(facts, "devices", Verdict::warn, "device 0: no OpenGL 4.5", "glinpack devices");
  graphics["backend"] = "gl-compute";
  expect_finding(facts, "devices", Verdict::fail, "no OpenGL 4.5", "glinpack devices");
  graphics["egl_vendors"] = json::array({"/usr/share/glvnd/egl_vendor.d/50_mesa.json"});
  expect_finding(facts, "devices", Verdict::fail, "not among what libEGL finds", "10_nvidia.json");
  graphics["files"].clear();
  graphics["devices"].clear();
  expect_finding(facts, "devices", Verdict::fail, "EGL knows no device", "apt-get install");
  graphics["variables"] = json::array({"EGL_VISIBLE_DEVICES=all", "GALLIUM_DRIVER=softpipe"});
  expect_finding(
      facts, "devices", Verdict::fail,
      "node0: the environment has EGL_VISIBLE_DEVICES=all, GALLIUM_DRIVER=softpipe; node0: EGL knows no device",
      "unset EGL_VISIBLE_DEVICES GALLIUM_DRIVER");
  graphics["gpus"].clear();
  expect_finding(facts, "devices", Verdict::warn, "node0: the environment has", "unset EGL_VISIBLE_DEVICES");
  graphics["variables"].clear();
  expect_finding(facts, "devices", Verdict::warn, "EGL knows no device", "apt-get install");
  graphics["looked"] = false;
  graphics["backend"] = "openblas";
  expect_finding(facts, "devices", Verdict::unknown, "--backend openblas");
}

TEST(DoctorChecks, driver_warns_of_differences_and_fails_if_library_and_kernel_module_differ) {
  Facts facts = healthy(2, 2);
  expect_finding(facts, "driver", Verdict::ok, "4.6.0 NVIDIA 580.159");
  for (json& rank : facts.ranks) rank["graphics"]["nvidia_kernel_driver"] = "580.159.03";
  expect_finding(facts, "driver", Verdict::ok, "4.6.0 NVIDIA 580.159");
  for (json& rank : facts.ranks) rank["graphics"]["nvidia_kernel_driver"] = "580.15";
  expect_finding(facts, "driver", Verdict::fail, "kernel module of 580.15", "/proc/driver/nvidia/version");
  for (json& rank : facts.ranks) rank["graphics"]["nvidia_kernel_driver"] = "580.159";
  facts.ranks[1]["graphics"]["devices"][1]["version"] = "4.6.0 NVIDIA 570.1";
  facts.ranks[1]["graphics"]["nvidia_kernel_driver"] = "570.1";
  expect_finding(facts, "driver", Verdict::warn, "rank 1: 4.6.0 NVIDIA 570.1", "glinpack devices");
  facts.ranks[1]["graphics"]["nvidia_kernel_driver"] = "580.159";
  expect_finding(facts, "driver", Verdict::fail, "libraries are of 570.1, its kernel module of 580.159",
                 "/proc/driver/nvidia/version");
  for (json& rank : facts.ranks) rank["graphics"]["chosen"] = -1;
  expect_finding(facts, "driver", Verdict::unknown, "no rank has a device");
}

TEST(DoctorChecks, renderer_warns_of_software_if_there_is_hardware) {
  Facts facts = healthy(2, 2);
  expect_finding(facts, "renderer", Verdict::ok, "ranks 0-1: NVIDIA H200/PCIe/SSE2, hardware");
  facts.ranks[1]["graphics"]["chosen"] = -1;
  expect_finding(facts, "renderer", Verdict::warn, "rank 1: none; --backend auto computes with OpenBLAS",
                 "glinpack devices");
  facts.ranks[0]["graphics"]["chosen"] = -1;
  expect_finding(facts, "renderer", Verdict::warn, "although the bus has GPUs: node0 0000:18:00.0", "glinpack devices");
  for (json& rank : facts.ranks) rank["graphics"]["gpus"].clear();
  expect_finding(facts, "renderer", Verdict::ok, "no GPU");
  for (json& rank : facts.ranks) {
    rank["graphics"]["chosen"] = 0;
    rank["graphics"]["devices"][0]["software"] = true;
    rank["graphics"]["devices"][0]["renderer"] = "llvmpipe";
  }
  expect_finding(facts, "renderer", Verdict::warn, "ranks 0-1: llvmpipe, software: the processor draws", "openblas");
  facts = healthy(2, 2);
  facts.ranks[1]["graphics"]["devices"][1]["renderer"] = "Another GPU";
  expect_finding(facts, "renderer", Verdict::warn, "the ranks' devices differ", "glinpack devices");
}

TEST(DoctorChecks, gpu_map_warns_of_shared_gpus) {
  Facts facts = healthy(4, 2);
  expect_finding(facts, "gpu-map", Verdict::ok, "node1: rank 2 device 0, rank 3 device 1");
  facts.ranks[1]["graphics"]["chosen"] = 0;
  expect_finding(facts, "gpu-map", Verdict::warn, "node0: ranks 0-1 share device 0", "VISIBLE_DEVICES");
  for (json& rank : facts.ranks) {  // one GPU per two ranks
    rank["graphics"]["devices"].erase(1);
    rank["graphics"]["chosen"] = 0;
  }
  expect_finding(facts, "gpu-map", Verdict::warn, "ranks 2-3 share device 0", "mpirun -np 2 glinpack");
  facts.ranks[0]["process"]["launcher"] = "Slurm";
  expect_finding(facts, "gpu-map", Verdict::warn, "ranks 0-1", "srun --gpus-per-task=1");
  // the same device by another number
  facts = healthy(2, 2);
  facts.ranks[1]["graphics"]["devices"][1]["uuid"] = "uuid0";
  expect_finding(facts, "gpu-map", Verdict::warn, "ranks 0-1 share", "VISIBLE_DEVICES");
  facts = healthy(1, 1);
  facts.ranks[0]["graphics"]["devices"].push_back(gpu(1, 1));
  expect_finding(facts, "gpu-map", Verdict::ok, "rank 0 device 0, 1 device without a rank");
  facts.ranks[0]["graphics"]["chosen"] = -1;
  expect_finding(facts, "gpu-map", Verdict::unknown, "no rank has a hardware device");
}

TEST(DoctorChecks, gpu_distance_warns_of_ranks_far_from_their_gpu_and_of_missing_lanes) {
  Facts facts = healthy(2, 2);
  expect_finding(facts, "gpu-distance", Verdict::ok, "rank 1: 0000:19:00.0, NUMA node 1, x16 at 32.0 GT/s PCIe");
  expect_finding(facts, "gpu-distance", Verdict::ok, "between GPUs SYS");
  facts.ranks[1]["processor"]["processors"] = {0, 1, 2, 3};
  expect_finding(facts, "gpu-distance", Verdict::warn,
                 "rank 1: runs on processors 0-3, its GPU 0000:19:00.0 is near 8-15", "-bind-to numa");
  facts = healthy(2, 2);
  for (json& rank : facts.ranks) {
    for (json& device : rank["graphics"]["devices"]) device["nvlinks"] = 18;
  }
  expect_finding(facts, "gpu-distance", Verdict::ok, "node0: 18 NVLinks each");
  facts.ranks[1]["graphics"]["devices"][1]["nvlinks"] = 17;
  expect_finding(facts, "gpu-distance", Verdict::warn, "rank 1: 17 NVLinks of its GPU 0000:19:00.0 are active",
                 "nvidia-smi nvlink --status");
  facts = healthy(1, 1);
  facts.ranks[0]["graphics"]["devices"][0]["pci"]["width"] = 8;
  expect_finding(facts, "gpu-distance", Verdict::warn, "has 8 of its 16 PCI lanes", "lspci -vv -s 0000:18:00.0");
  facts.ranks[0]["graphics"]["devices"][0]["pci"] = no_pci_device();
  expect_finding(facts, "gpu-distance", Verdict::unknown, "tells where the devices are");
}

TEST(DoctorChecks, device_memory_warns_if_other_processes_use_it) {
  Facts facts = healthy(1, 1);
  json& device = facts.ranks[0]["graphics"]["devices"][0];
  expect_finding(facts, "device-memory", Verdict::ok, "139.0 GiB free of 140.0 GiB");
  device["free_memory"] = 60 * gib;
  expect_finding(facts, "device-memory", Verdict::warn, "60.0 GiB of 140.0 GiB of device 0",
                 "nvidia-smi --query-compute");
  device["version"] = "4.6 Mesa 23";
  expect_finding(facts, "device-memory", Verdict::warn, "60.0 GiB", "fuser");
  device["total_memory"] = 0;
  expect_finding(facts, "device-memory", Verdict::unknown, "does not report it");
}

}  // namespace
}  // namespace glinpack::app::doctor
