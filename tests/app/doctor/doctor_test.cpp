// Input and output of `glinpack doctor`: options, files of the kernel, facts in JSON, reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "app/doctor/doctor_options.hpp"
#include "app/doctor/gather.hpp"
#include "app/doctor/pci.hpp"
#include "app/doctor/report.hpp"
#include "tests/app/expect.hpp"

namespace glinpack::app::doctor {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(DoctorOptions, every_option_is_parsed_and_is_in_the_configuration) {
  const DoctorOptions o = parse({"--quick", "--network-seconds", "3", "--gemm-seconds", "0.1", "--backend",
                                 "gl-compute", "--device", "2", "--threads", "4", "--json", "d.json", "--force"},
                                doctor_table)
                              .options;
  const nlohmann::json expected = nlohmann::json::parse(R"({"quick": true, "network-seconds": 3.0, "gemm-seconds": 0.1,
    "backend": "gl-compute", "device": 2, "threads": 4, "json": "d.json", "force": true, "log-level": "info"})");
  EXPECT_EQ(to_json(o, doctor_table), expected);
}

TEST(DoctorOptions, rejects_invalid_values) {
  const auto refused = [](const std::vector<std::string>& arguments, const std::vector<std::string>& parts) {
    expect_input_error([&] { parse(arguments, doctor_table); }, parts);
  };
  refused({"--backend", "openbals"}, {"--backend", "'openbals'", "openblas"});
  refused({"--network-seconds", "0"}, {"--network-seconds", "out of range"});
  refused({"--threads", "0"}, {"--threads", "'0'"});
  refused({"--quik"}, {"'--quik'", "--quick", "glinpack doctor --help"});
}

TEST(DoctorOptions, help_has_units_examples_and_exit_codes) {
  for (const char* part : {"glinpack doctor", "GB/s", "Examples:", "Exit code:", "--quick"}) {
    EXPECT_THAT(help_of(doctor_table), HasSubstr(part));
  }
  EXPECT_THAT(program_help(), HasSubstr("doctor "));
}

TEST(DoctorFacts, survive_a_json_round_trip) {
  RankFacts facts;
  facts.process.rank = 3;
  facts.process.launcher = "Hydra";
  facts.host.addresses = {"10.0.0.1"};
  facts.processor.cores = {0, 2};
  facts.memory.locked = 65536;
  facts.shared_memory.path = "/dev/shm";
  facts.graphics.devices.resize(1);
  facts.graphics.devices[0].renderer = "a GPU";
  facts.graphics.devices[0].pci.bridges = {"pci0000:00"};
  facts.graphics.files = {{"/dev/dri/renderD128", false, "render"}};
  facts.container.driver_capabilities = "compute";
  facts.clocks.hottest = {{"coretemp", 50, 100}};
  facts.gemm.host = 1e9;
  const nlohmann::json json = to_json(facts);
  EXPECT_EQ(to_json(facts_from_json(json)), json);
  EXPECT_EQ(facts_from_json(json).container.driver_capabilities, "compute");
  EXPECT_FALSE(facts_from_json(json).container.visible_devices.has_value());
}

TEST(DoctorPci, processor_lists_have_the_kernel_s_format) {
  EXPECT_THAT(parse_processor_list("0-3,8,10-11"), ElementsAre(0, 1, 2, 3, 8, 10, 11));
  EXPECT_THAT(parse_processor_list(""), IsEmpty());
  EXPECT_EQ(processor_list({0, 1, 2, 3, 8, 10, 11}), "0-3,8,10-11");
  EXPECT_EQ(processor_list({}), "");
}

class DoctorFiles : public FolderTest {
 protected:
  // A PCI device as in sysfs: a folder below its bridges, and a link to it.
  void add_device(const std::string& below, const std::string& address, const std::string& device_class,
                  const std::string& vendor) {
    const std::filesystem::path folder = std::filesystem::path(path("sys/devices")) / below / address;
    std::filesystem::create_directories(folder);
    const std::string name = "sys/devices/" + below + "/" + address + "/";
    write(name + "class", device_class + "\n");
    write(name + "vendor", vendor + "\n");
    write(name + "numa_node", "1\n");
    write(name + "local_cpulist", "8-15\n");
    write(name + "current_link_width", "8\n");
    write(name + "max_link_width", "16\n");
    write(name + "current_link_speed", "16.0 GT/s PCIe\n");
    std::filesystem::create_directories(path("sys/bus/pci/devices"));
    std::filesystem::create_directory_symlink(folder, path("sys/bus/pci/devices/" + address));
  }
};

TEST_F(DoctorFiles, gpus_are_found_on_the_bus_without_management_controllers) {
  add_device("pci0000:00/0000:00:01.0", "0000:18:00.0", "0x030200", "0x10de");
  add_device("pci0000:00/0000:00:02.0", "0000:02:00.0", "0x030000", "0x1a03");  // ASPEED
  add_device("pci0000:00", "0000:00:1f.0", "0x020000", "0x8086");               // a network adapter
  const std::vector<PciDevice> gpus = list_gpus(path(""));
  ASSERT_EQ(gpus.size(), 1u);
  EXPECT_EQ(gpus[0].address, "0000:18:00.0");
  EXPECT_EQ(gpus[0].vendor, 0x10de);
  EXPECT_EQ(gpus[0].numa_node, 1);
  EXPECT_EQ(processor_list(gpus[0].local_processors), "8-15");
  EXPECT_EQ(gpus[0].width, 8);
  EXPECT_EQ(gpus[0].largest_width, 16);
  EXPECT_EQ(gpus[0].speed, "16.0 GT/s PCIe");
  EXPECT_THAT(gpus[0].bridges, ElementsAre("pci0000:00", "0000:00:01.0"));
  EXPECT_THAT(list_gpus(path("nowhere")), IsEmpty());
}

TEST_F(DoctorFiles, a_device_is_found_by_its_drm_file_or_its_uuid) {
  add_device("pci0000:00/0000:00:01.0", "0000:18:00.0", "0x030200", "0x10de");
  std::filesystem::create_directories(path("sys/class/drm/card0"));
  std::filesystem::create_directory_symlink(path("sys/bus/pci/devices/0000:18:00.0"),
                                            path("sys/class/drm/card0/device"));
  EXPECT_EQ(pci_address_of(path(""), "/dev/dri/card0", ""), "0000:18:00.0");
  EXPECT_EQ(pci_address_of(path(""), "/dev/dri/card1", ""), "");
  std::filesystem::create_directories(path("proc/driver/nvidia/gpus/0000:2a:00.0"));
  write("proc/driver/nvidia/gpus/0000:2a:00.0/information",
        "Model: \t\t NVIDIA H200\nGPU UUID: \t GPU-5ac84279-a50b-4c84-df70-6b4f21f7d185\n");
  EXPECT_EQ(pci_address_of(path(""), "", "5AC84279a50b4c84df706b4f21f7d185"), "0000:2a:00.0");
  EXPECT_EQ(pci_address_of(path(""), "", "00000000a50b4c84df706b4f21f7d185"), "");
  EXPECT_EQ(pci_address_of(path(""), "", ""), "");
}

TEST(DoctorPci, distances_have_the_names_of_nvidia_smi) {
  const auto at = [](std::vector<std::string> bridges, int numa_node) {
    PciDevice device;
    device.bridges = std::move(bridges);
    device.numa_node = numa_node;
    return device;
  };
  const PciDevice a = at({"pci0000:00", "0000:00:01.0", "0000:01:00.0"}, 0);
  EXPECT_EQ(pci_distance(a, at({"pci0000:00", "0000:00:01.0", "0000:01:00.0"}, 0)), "PIX");
  EXPECT_EQ(pci_distance(a, at({"pci0000:00", "0000:00:01.0", "0000:01:01.0"}, 0)), "PXB");
  EXPECT_EQ(pci_distance(a, at({"pci0000:00", "0000:00:03.0"}, 0)), "PHB");
  EXPECT_EQ(pci_distance(a, at({"pci0000:40", "0000:40:01.0"}, 0)), "NODE");
  EXPECT_EQ(pci_distance(a, at({"pci0000:80", "0000:80:01.0"}, 1)), "SYS");
  EXPECT_EQ(pci_distance(a, at({}, 0)), "");
}

TEST_F(DoctorFiles, clocks_are_of_the_rank_s_processors_and_the_hottest_sensor) {
  const auto put = [this](const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    write(name, text + "\n");
  };
  for (const auto& [cpu, khz] : {std::pair{"0", "2000000"}, {"1", "3500000"}, {"2", "800000"}}) {
    const std::string folder = std::string("sys/devices/system/cpu/cpu") + cpu;
    put(folder + "/cpufreq/scaling_driver", "acpi-cpufreq");
    put(folder + "/cpufreq/scaling_governor", cpu == std::string("1") ? "powersave" : "performance");
    put(folder + "/cpufreq/scaling_cur_freq", khz);
    put(folder + "/cpufreq/cpuinfo_max_freq", "3800000");
    put(folder + "/thermal_throttle/core_throttle_count", "2");
  }
  put("sys/class/hwmon/hwmon0/name", "coretemp");
  put("sys/class/hwmon/hwmon0/temp1_input", "60000");
  put("sys/class/hwmon/hwmon0/temp1_crit", "100000");
  put("sys/class/hwmon/hwmon0/temp2_input", "75000");
  put("sys/class/hwmon/hwmon0/temp2_crit", "100000");
  put("sys/class/hwmon/hwmon0/temp2_label", "Core 1");
  const std::vector<int> processors{0, 1};
  const ClockFacts clocks = read_clocks(path(""), processors);
  EXPECT_EQ(clocks.governor, "powersave");
  EXPECT_EQ(clocks.slowest_mhz, 2000);
  EXPECT_EQ(clocks.fastest_mhz, 3500);
  EXPECT_EQ(clocks.highest_mhz, 3800);
  EXPECT_EQ(clocks.throttled, 4);
  ASSERT_EQ(clocks.hottest.size(), 1u);
  EXPECT_EQ(clocks.hottest[0].name, "coretemp Core 1");
  EXPECT_EQ(clocks.hottest[0].celsius, 75);
  EXPECT_EQ(clocks.hottest[0].critical, 100);
  const ClockFacts none = read_clocks(path("nowhere"), processors);
  EXPECT_EQ(none.governor, "");
  EXPECT_EQ(none.throttled, -1);
  EXPECT_THAT(none.hottest, IsEmpty());
}

TEST_F(DoctorFiles, a_device_s_sensor_reports_clocks_and_the_bus_address) {
  add_device("pci0000:00/0000:00:01.0", "0000:18:00.0", "0x030000", "0x1002");
  std::filesystem::create_directories(path("sys/class/drm/card0"));
  std::filesystem::create_directory_symlink(path("sys/devices/pci0000:00/0000:00:01.0/0000:18:00.0"),
                                            path("sys/class/drm/card0/device"));
  const std::string hwmon = "sys/devices/pci0000:00/0000:00:01.0/0000:18:00.0/hwmon/hwmon3/";
  std::filesystem::create_directories(path(hwmon));
  write(hwmon + "power1_average", "250000000\n");
  write(hwmon + "freq1_input", "1700000000\n");
  write(hwmon + "temp1_input", "65000\n");
  const sensors::Places places{.root = path(""), .nvml_library = "nowhere"};
  ClockFacts clocks;
  DeviceFacts device;
  read_device_sensor(places, {.vendor = "AMD", .uuid = "", .drm_file = "/dev/dri/card0"}, clocks, device);
  EXPECT_EQ(clocks.device_source, "hwmon");
  EXPECT_EQ(clocks.device_mhz, 1700);
  EXPECT_EQ(clocks.device_celsius, 65);
  EXPECT_EQ(device.pci.address, "0000:18:00.0");
  EXPECT_EQ(device.nvlinks, -1);
  clocks = {};
  read_device_sensor(places, {.vendor = "NVIDIA", .uuid = "", .drm_file = ""}, clocks, device);
  EXPECT_EQ(clocks.device_source, "");
}

TEST(DoctorReport, has_a_line_for_each_check_and_numbered_remedies) {
  const std::vector<Finding> findings{
      {"world", Verdict::ok, "4 processes on 1 node", {}},
      {"affinity", Verdict::warn, "node0: 4 ranks share 2 cores", {"mpirun -np 2  # or"}},
      {"clocks", Verdict::unknown, "not readable", {}}};
  EXPECT_EQ(findings_text(findings),
            "ok    world            4 processes on 1 node\n"
            "warn  affinity         node0: 4 ranks share 2 cores\n"
            "                       -> mpirun -np 2  # or\n"
            "n/a   clocks           not readable\n"
            "\n"
            "1 ok, 1 warn, 0 fail, 1 n/a\n");
  EXPECT_THAT(findings_notes(findings),
              ElementsAre("doctor, affinity: node0: 4 ranks share 2 cores; try: mpirun -np 2"));
  Facts facts;
  facts.ranks.resize(4);
  const nlohmann::json document = findings_json(findings, facts);
  EXPECT_EQ(document["verdict"], "warn");
  EXPECT_EQ(document["checks"][1]["remedies"][0], "mpirun -np 2  # or");
  EXPECT_EQ(document["ranks"].size(), 4u);
  EXPECT_TRUE(document["screening"].is_null());
}

TEST(DoctorReport, a_document_is_ok_if_some_checks_do_not_apply) {
  const std::vector<Finding> findings{{"world", Verdict::ok, "", {}}, {"clocks", Verdict::unknown, "", {}}};
  EXPECT_EQ(findings_json(findings, {})["verdict"], "ok");
}

}  // namespace
}  // namespace glinpack::app::doctor
