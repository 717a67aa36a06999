// Input and output of `glinpack doctor`: options, files of the kernel, reports.

#include <filesystem>

#include "app/doctor/doctor_command.hpp"
#include "app/doctor/facts.hpp"
#include "app/program/topology.hpp"
#include "tests/app/doctor/doctor_facts.hpp"
#include "tests/app/expect.hpp"

namespace glinpack::app::doctor {
namespace {

TEST(DoctorOptions, every_option_is_parsed_and_is_in_the_configuration) {
  const DoctorOptions o =
      parse(arguments_of("--quick --network-seconds 3 --gemm-seconds 0.1 --burn-in 0.5 --watchdog 60 --backend "
                         "gl-compute --device 2 --threads 4 --json d.json --force"),
            doctor_table)
          .options;
  const nlohmann::json expected = nlohmann::json::parse(R"({"quick": true, "network-seconds": 3.0, "gemm-seconds": 0.1,
    "burn-in": 0.5, "watchdog": 60.0, "backend": "gl-compute", "device": 2, "threads": 4, "json": "d.json",
    "force": true, "log-level": "info"})");
  EXPECT_EQ(to_json(o, doctor_table), expected);
}

TEST(DoctorOptions, rejects_invalid_values) {
  const auto refused = [](const std::vector<std::string>& arguments, const std::vector<std::string>& parts) {
    expect_input_error([&] { parse(arguments, doctor_table); }, parts);
  };
  refused({"--backend", "openbals"}, {"--backend", "'openbals'", "openblas"});
  refused({"--network-seconds", "0"}, {"--network-seconds", "out of range"});
  refused({"--burn-in", "0"}, {"--burn-in", "minutes"});
  refused({"--threads", "0"}, {"--threads", "'0'"});
  refused({"--quik"}, {"'--quik'", "--quick", "glinpack doctor --help"});
}

TEST(DoctorPci, processor_lists_have_the_kernel_s_format) {
  EXPECT_EQ(list_of_processors({0, 1, 2, 3, 8, 10, 11}), "0-3,8,10-11");
  EXPECT_EQ(list_of_processors({}), "");
}

// A machine with two NUMA nodes: on the second one, a GPU below a bridge, the display controller of a server's
// management (ASPEED) and a network adapter.
constexpr const char* machine_xml = R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
 <object type="Machine" os_index="0" gp_index="1" cpuset="0x0000000f" complete_cpuset="0x0000000f"
         allowed_cpuset="0x0000000f" nodeset="0x00000003" complete_nodeset="0x00000003" allowed_nodeset="0x00000003">
  <object type="Package" os_index="0" gp_index="2" cpuset="0x00000003" complete_cpuset="0x00000003"
          nodeset="0x00000001" complete_nodeset="0x00000001">
   <object type="NUMANode" os_index="0" gp_index="3" cpuset="0x00000003" complete_cpuset="0x00000003"
           nodeset="0x00000001" complete_nodeset="0x00000001"/>
   <object type="PU" os_index="0" gp_index="4" cpuset="0x00000001" complete_cpuset="0x00000001" nodeset="0x00000001"
           complete_nodeset="0x00000001"/>
   <object type="PU" os_index="1" gp_index="5" cpuset="0x00000002" complete_cpuset="0x00000002" nodeset="0x00000001"
           complete_nodeset="0x00000001"/>
  </object>
  <object type="Package" os_index="1" gp_index="6" cpuset="0x0000000c" complete_cpuset="0x0000000c"
          nodeset="0x00000002" complete_nodeset="0x00000002">
   <object type="NUMANode" os_index="1" gp_index="7" cpuset="0x0000000c" complete_cpuset="0x0000000c"
           nodeset="0x00000002" complete_nodeset="0x00000002"/>
   <object type="PU" os_index="2" gp_index="8" cpuset="0x00000004" complete_cpuset="0x00000004" nodeset="0x00000002"
           complete_nodeset="0x00000002"/>
   <object type="PU" os_index="3" gp_index="9" cpuset="0x00000008" complete_cpuset="0x00000008" nodeset="0x00000002"
           complete_nodeset="0x00000002"/>
   <object type="Bridge" gp_index="10" bridge_type="0-1" depth="0" bridge_pci="0000:[00-18]">
    <object type="Bridge" gp_index="11" bridge_type="1-1" depth="1" bridge_pci="0000:[18-18]"
            pci_busid="0000:00:01.0" pci_type="0604 [8086:7abc] [0000:0000] 00" pci_link_speed="15.75">
     <object type="PCIDev" gp_index="12" pci_busid="0000:18:00.0" pci_type="0302 [10de:2335] [0000:0000] a1"
             pci_link_speed="15.75"/>
    </object>
    <object type="PCIDev" gp_index="13" pci_busid="0000:00:02.0" pci_type="0300 [1a03:2000] [0000:0000] 00"
            pci_link_speed="0"/>
    <object type="PCIDev" gp_index="14" pci_busid="0000:00:1f.0" pci_type="0200 [8086:1521] [0000:0000] 00"
            pci_link_speed="0"/>
   </object>
  </object>
 </object>
</topology>
)";

class DoctorFiles : public FolderTest {
 protected:
  // A PCI device as in sysfs: a folder below its bridges, and a link to it.
  void add_device(const std::string& below, const std::string& address) {
    const std::filesystem::path folder = std::filesystem::path(path("sys/devices")) / below / address;
    std::filesystem::create_directories(folder);
    const std::string name = "sys/devices/" + below + "/" + address + "/";
    write(name + "current_link_width", "8\n");
    write(name + "max_link_width", "16\n");
    write(name + "current_link_speed", "16.0 GT/s PCIe\n");
    std::filesystem::create_directories(path("sys/bus/pci/devices"));
    std::filesystem::create_directory_symlink(folder, path("sys/bus/pci/devices/" + address));
  }
};

TEST_F(DoctorFiles, gpus_are_found_on_the_bus_without_management_controllers) {
  add_device("pci0000:00/0000:00:01.0", "0000:18:00.0");
  const PciBus bus(machine_xml, path(""));
  const nlohmann::json expected{{"address", "0000:18:00.0"},
                                {"numa_node", 1},
                                {"local_processors", std::vector<int>{2, 3}},
                                {"width", 8},
                                {"max_width", 16}};
  EXPECT_THAT(bus.gpus(), ElementsAre("0000:18:00.0"));
  EXPECT_EQ(bus.device("0000:18:00.0"), expected);
  EXPECT_EQ(bus.device("0000:19:00.0"), nlohmann::json());
  EXPECT_EQ(bus.device(""), nlohmann::json());
  EXPECT_THAT(PciBus("not XML").gpus(), IsEmpty());
}

TEST_F(DoctorFiles, clocks_are_of_the_rank_s_processors) {
  const auto put = [this](const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    write(name, text + "\n");
  };
  for (const std::string cpu : {"0", "1", "2"}) {
    const std::string folder = "sys/devices/system/cpu/cpu" + cpu;
    put(folder + "/cpufreq/scaling_driver", "acpi-cpufreq");
    put(folder + "/cpufreq/scaling_governor", cpu == "1" ? "powersave" : "performance");
    put(folder + "/thermal_throttle/core_throttle_count", "2");
  }
  const nlohmann::json unread{{"processors", {0, 1}}, {"governor", nullptr}, {"throttled", nullptr}};
  nlohmann::json processor = unread;
  read_clocks(path(""), processor);
  EXPECT_EQ(processor["governor"], "powersave");
  EXPECT_EQ(processor["throttled"], 4);
  // a hint: the processor raises its clock under load
  for (const std::string cpu : {"0", "1"})
    put("sys/devices/system/cpu/cpu" + cpu + "/cpufreq/scaling_driver", "intel_pstate");
  read_clocks(path(""), processor = unread);
  EXPECT_EQ(processor["governor"], "powersave of intel_pstate");
  processor = unread;
  read_clocks(path("nowhere"), processor);
  EXPECT_EQ(processor, unread);
}

TEST_F(DoctorFiles, a_device_s_sensor_reports_clocks_and_the_bus_address) {
  add_device("pci0000:00/0000:00:01.0", "0000:18:00.0");
  std::filesystem::create_directories(path("sys/class/drm/card0"));
  std::filesystem::create_directory_symlink(path("sys/devices/pci0000:00/0000:00:01.0/0000:18:00.0"),
                                            path("sys/class/drm/card0/device"));
  const std::string hwmon = "sys/devices/pci0000:00/0000:00:01.0/0000:18:00.0/hwmon/hwmon3/";
  std::filesystem::create_directories(path(hwmon));
  write(hwmon + "power1_average", "250000000\n");
  write(hwmon + "freq1_input", "1700000000\n");
  write(hwmon + "temp1_input", "65000\n");
  const sensors::Places places{.root = path(""), .nvml_library = "nowhere"};
  const nlohmann::json unread{{"mhz", nullptr}, {"celsius", nullptr}, {"throttle", nlohmann::json::array()}};
  nlohmann::json device = unread;
  EXPECT_EQ(read_device_sensor(places, {.vendor = "AMD", .uuid = "", .drm_file = "/dev/dri/card0"}, device),
            "0000:18:00.0");
  EXPECT_EQ(device["mhz"], 1700);
  EXPECT_EQ(device["celsius"], 65);
  device = unread;
  EXPECT_EQ(read_device_sensor(places, {.vendor = "NVIDIA", .uuid = "", .drm_file = ""}, device), "");
  EXPECT_EQ(device, unread);
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
