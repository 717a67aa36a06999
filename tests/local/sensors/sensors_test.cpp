#include <gmock/gmock.h>
#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "sensors/find_sensors.hpp"
#include "sensors/kernel_sensors.hpp"
#include "sensors/sampler.hpp"
#include "tests/captured_log.hpp"

namespace glinpack::sensors {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace fs = std::filesystem;

// A folder that replaces /sys and /proc, and a script for the fake NVML.
class Sensors : public ::testing::Test {
 protected:
  Sensors() {
    std::string name = (fs::temp_directory_path() / "glinpack-sensors-XXXXXX").string();
    root = mkdtemp(name.data());
    places = {.root = root.string(), .nvml_library = GLINPACK_FAKE_NVML};
    unsetenv("FAKE_NVML");
  }
  ~Sensors() override { fs::remove_all(root); }

  void write(const std::string& path, const std::string& content) const {
    const fs::path file = root / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << content << '\n';
  }
  void zone(const std::string& folder, const std::string& name, const std::string& microjoules,
            const std::string& range = "1000000000") const {
    const std::string path = "sys/class/powercap/" + folder + "/";
    write(path + "name", name);
    write(path + "energy_uj", microjoules);
    write(path + "max_energy_range_uj", range);
  }
  void nvml(const std::string& script) const {
    write("nvml.txt", script);
    setenv("FAKE_NVML", (root / "nvml.txt").c_str(), 1);
  }

  fs::path root;
  Places places;
};

std::vector<std::string> ids_of(const FoundSensors& found) {
  std::vector<std::string> ids;
  for (const auto& sensor : found.sensors) ids.push_back(sensor->info().id);
  return ids;
}

std::vector<std::string> reasons_of(const FoundSensors& found) {
  std::vector<std::string> reasons;
  for (const Unread& unread : found.unread) reasons.push_back(unread.why);
  return reasons;
}

TEST(WrappingCounter, continues_when_the_counter_wraps) {
  WrappingCounter counter(1000);
  EXPECT_EQ(counter.advance(900), 0U);
  EXPECT_EQ(counter.advance(950), 50U);
  EXPECT_EQ(counter.advance(20), 120U);
  EXPECT_EQ(counter.advance(20), 120U);
  EXPECT_EQ(counter.advance(10), 1110U);
}

TEST(WrappingCounter, without_a_range_a_decrease_is_a_restart) {
  WrappingCounter counter(0);
  EXPECT_EQ(counter.advance(900), 0U);
  EXPECT_EQ(counter.advance(20), 20U);
}

TEST_F(Sensors, a_machine_without_sensors_has_none_and_no_messages) {
  const FoundSensors found = find_processor_sensors(places);
  EXPECT_THAT(found.sensors, IsEmpty());
  EXPECT_THAT(found.unread, IsEmpty());
}

TEST_F(Sensors, packages_and_their_memory_are_counted_once) {
  zone("intel-rapl:0", "package-0", "5000000");
  zone("intel-rapl:0:0", "core", "1");
  zone("intel-rapl:0:1", "dram", "7");
  zone("intel-rapl:1", "package-1", "8");
  zone("intel-rapl:2", "psys", "9");
  zone("intel-rapl:10", "package-2-die-1", "10");
  zone("intel-rapl:10:0", "dram", "11");
  zone("intel-rapl-mmio:0", "package-0", "5000000");
  const FoundSensors found = find_processor_sensors(places);
  EXPECT_THAT(ids_of(found), ElementsAre("package-0", "dram-0", "package-1", "package-2-die-1", "dram-2-die-1"));
  EXPECT_EQ(found.sensors[0]->info().kind, Kind::package);
  EXPECT_EQ(found.sensors[1]->info().kind, Kind::dram);
  EXPECT_EQ(found.sensors[1]->info().source, "RAPL");
}

TEST_F(Sensors, a_package_counts_joules_from_its_discovery_and_beyond_its_range) {
  zone("intel-rapl:0", "package-0", "5000000", "8000000");
  const FoundSensors found = find_processor_sensors(places);
  ASSERT_EQ(found.sensors.size(), 1U);
  EXPECT_EQ(found.sensors[0]->read().joules, 0.0);
  zone("intel-rapl:0", "package-0", "7500000", "8000000");
  EXPECT_DOUBLE_EQ(found.sensors[0]->read().joules, 2.5);
  zone("intel-rapl:0", "package-0", "1000000", "8000000");
  const Reading reading = found.sensors[0]->read();
  EXPECT_DOUBLE_EQ(reading.joules, 4.0);
  EXPECT_FALSE(known(reading.watts));
  EXPECT_EQ(reading.throttle, unknown_throttle);
}

TEST_F(Sensors, an_unreadable_package_is_recorded_with_file_and_cause) {
  zone("intel-rapl:0", "package-0", "5000000");
  zone("intel-rapl:1", "package-1", "not a number");
  const fs::path file = root / "sys/class/powercap/intel-rapl:0/energy_uj";
  fs::remove(file);
  fs::create_symlink("energy_uj", file);  // opening it fails even for root
  const FoundSensors found = find_processor_sensors(places);
  EXPECT_THAT(found.sensors, IsEmpty());
  ASSERT_EQ(found.unread.size(), 2U);
  EXPECT_THAT(found.unread[0].why,
              HasSubstr("RAPL package-0: " + file.string() + ": Too many levels of symbolic links"));
  EXPECT_THAT(found.unread[1].why, HasSubstr("Invalid argument"));
}

TEST_F(Sensors, a_machine_is_identified_by_its_boot_id) {
  write("proc/sys/kernel/random/boot_id", "3d9b2b1e-0000");
  EXPECT_EQ(machine_id(places), "3d9b2b1e-0000");
}

TEST_F(Sensors, a_gpu_of_nvml_is_found_by_its_uuid) {
  nvml(
      "GPU-00000000-0000-0000-0000-000000000000 00000000:19:00.0 Other power=1000\n"
      "GPU-5ac84279-a50b-4c84-df70-6b4f21f7d185 00000000:AB:00.0 H200 energy=1000,1000,3500 power=250000 "
      "limit=700000 sm=1980 memory=3201 most=1995 celsius=61 throttle=0x44");
  const FoundSensors found = find_gpu_sensor(
      places, {.vendor = "NVIDIA Corporation", .uuid = "5ac84279a50b4c84df706b4f21f7d185", .drm_file = {}});
  ASSERT_THAT(ids_of(found), ElementsAre("0000:ab:00.0"));
  const SensorInfo& info = found.sensors[0]->info();
  EXPECT_EQ(info.kind, Kind::gpu);
  EXPECT_EQ(info.name, "H200");
  EXPECT_EQ(info.source, "NVML");
  EXPECT_EQ(info.power_limit_watts, 700.0);
  EXPECT_EQ(info.max_core_megahertz, 1995.0);
  const Reading before = found.sensors[0]->read();
  const Reading reading = found.sensors[0]->read();
  EXPECT_EQ(before.joules, 0.0);
  EXPECT_DOUBLE_EQ(reading.joules, 2.5);
  EXPECT_DOUBLE_EQ(reading.watts, 250.0);
  EXPECT_EQ(reading.core_megahertz, 1980.0);
  EXPECT_EQ(reading.memory_megahertz, 3201.0);
  EXPECT_EQ(reading.celsius, 61.0);
  EXPECT_THAT(reasons_in(reading.throttle), ElementsAre(throttle_power_cap, throttle_hardware_thermal));
}

TEST_F(Sensors, a_gpu_of_nvml_is_found_by_the_pci_address_of_its_drm_file) {
  nvml("GPU-0 00000000:19:00.0 First power=1000\nGPU-1 00000000:3B:00.0 Second power=2000\n");
  fs::create_directories(root / "sys/devices/pci0000:3a/0000:3B:00.0");
  fs::create_directories(root / "sys/class/drm/card1");
  fs::create_directory_symlink("../../../devices/pci0000:3a/0000:3B:00.0", root / "sys/class/drm/card1/device");
  const FoundSensors found =
      find_gpu_sensor(places, {.vendor = "NVIDIA Corporation", .uuid = {}, .drm_file = "/dev/dri/card1"});
  ASSERT_EQ(found.sensors.size(), 1U);
  EXPECT_EQ(found.sensors[0]->info().name, "Second");
  EXPECT_DOUBLE_EQ(found.sensors[0]->read().watts, 2.0);
}

TEST_F(Sensors, without_uuid_and_drm_file_only_a_single_gpu_is_used) {
  const GpuIdentity nameless{.vendor = "NVIDIA Corporation", .uuid = {}, .drm_file = {}};
  nvml("GPU-0 00000000:19:00.0 First power=1000\nGPU-1 00000000:3B:00.0 Second power=2000\n");
  const FoundSensors none = find_gpu_sensor(places, nameless);
  EXPECT_THAT(none.sensors, IsEmpty());
  EXPECT_THAT(reasons_of(none), ElementsAre(HasSubstr("which of its 2 GPUs")));
  nvml("GPU-0 00000000:19:00.0 First power=1000\n");
  EXPECT_THAT(ids_of(find_gpu_sensor(places, nameless)), ElementsAre("0000:19:00.0"));
}

TEST_F(Sensors, values_that_nvml_does_not_support_stay_unknown) {
  const GpuIdentity only{.vendor = "NVIDIA Corporation", .uuid = {}, .drm_file = {}};
  nvml("GPU-1 00000000:1a:00.0 Mute sm=5\n");
  EXPECT_THAT(reasons_of(find_gpu_sensor(places, only)),
              ElementsAre(HasSubstr("0000:1a:00.0 reports neither energy nor power")));
  nvml("GPU-0 00000000:19:00.0 Old power=1000\n");
  const FoundSensors found = find_gpu_sensor(places, only);
  ASSERT_EQ(found.sensors.size(), 1U);
  const Reading reading = found.sensors[0]->read();
  EXPECT_FALSE(known(reading.joules));
  EXPECT_FALSE(known(reading.celsius));
  EXPECT_EQ(reading.throttle, unknown_throttle);
  EXPECT_THAT(reasons_in(reading.throttle), IsEmpty());
}

TEST_F(Sensors, a_missing_or_failing_nvml_is_recorded) {
  const GpuIdentity gpu{.vendor = "NVIDIA Corporation", .uuid = {}, .drm_file = {}};
  EXPECT_THAT(reasons_of(find_gpu_sensor(places, gpu)), ElementsAre(HasSubstr("Driver Not Loaded")));
  places.nvml_library = "libno-such-nvml.so";
  EXPECT_THAT(reasons_of(find_gpu_sensor(places, gpu)), ElementsAre(HasSubstr("libno-such-nvml.so")));
  // NVML is not queried about a device of another vendor
  const FoundSensors other = find_gpu_sensor(places, {.vendor = "Mesa", .uuid = {}, .drm_file = {}});
  EXPECT_THAT(other.sensors, IsEmpty());
  EXPECT_THAT(other.unread, IsEmpty());
}

TEST_F(Sensors, a_gpu_of_hwmon_is_found_by_its_drm_file) {
  fs::create_directories(root / "sys/devices/0000:03:00.0");
  fs::create_directories(root / "sys/class/drm/card0");
  fs::create_directory_symlink("../../../devices/0000:03:00.0", root / "sys/class/drm/card0/device");
  const std::string folder = "sys/devices/0000:03:00.0/hwmon/hwmon4/";
  write(folder + "name", "amdgpu");
  write(folder + "power1_average", "215000000");
  write(folder + "freq1_input", "2100000000");
  write(folder + "freq2_input", "1600000000");
  write(folder + "temp1_input", "71500");
  write(folder + "power1_cap", "300000000");
  const FoundSensors found = find_gpu_sensor(places, {.vendor = "AMD", .uuid = {}, .drm_file = "/dev/dri/card0"});
  ASSERT_THAT(ids_of(found), ElementsAre("0000:03:00.0"));
  EXPECT_EQ(found.sensors[0]->info().name, "amdgpu");
  EXPECT_DOUBLE_EQ(found.sensors[0]->info().power_limit_watts, 300.0);
  const Reading reading = found.sensors[0]->read();
  EXPECT_FALSE(known(reading.joules));
  EXPECT_DOUBLE_EQ(reading.watts, 215.0);
  EXPECT_DOUBLE_EQ(reading.core_megahertz, 2100.0);
  EXPECT_DOUBLE_EQ(reading.memory_megahertz, 1600.0);
  EXPECT_DOUBLE_EQ(reading.celsius, 71.5);
}

TEST_F(Sensors, a_gpu_whose_driver_counts_only_energy_is_read) {
  const std::string folder = "sys/class/drm/card0/device/hwmon/hwmon1/";
  write(folder + "energy1_input", "1000000");
  const FoundSensors found = find_gpu_sensor(places, {.vendor = "Intel", .uuid = {}, .drm_file = "/dev/dri/card0"});
  ASSERT_EQ(found.sensors.size(), 1U);
  write(folder + "energy1_input", "3500000");
  EXPECT_DOUBLE_EQ(found.sensors[0]->read().joules, 2.5);
}

class Counting : public Sensor {
 public:
  Counting() : Sensor({.kind = Kind::package, .id = "package-0", .name = {}, .source = "test"}) {}
  Reading read() override {
    Reading reading;
    reading.joules = static_cast<double>(readings++);
    return reading;
  }
  std::atomic<int> readings = 0;
};

TEST(Sampler, reads_first_and_last_for_any_length_of_the_section) {
  Counting sensor;
  Sampler sampler({&sensor}, std::chrono::hours(1));
  for (int section = 0; section < 3; ++section) {
    const int before = sensor.readings;
    sampler.start();
    EXPECT_EQ(sensor.readings, before + 1);
    const auto epoch = Sampler::Clock::now();
    const auto samples = sampler.stop(epoch);
    ASSERT_EQ(samples.size(), 1U);
    ASSERT_EQ(samples[0].size(), 2U);
    EXPECT_LE(samples[0][0].seconds, 0);
    EXPECT_GE(samples[0][1].seconds, 0);
    EXPECT_EQ(samples[0][1].reading.joules, before + 1);
  }
}

TEST(Sampler, reads_repeatedly_in_order_of_time) {
  Counting sensor;
  Counting other;
  Sampler sampler({&sensor, &other}, std::chrono::microseconds(100));
  sampler.start();
  const auto epoch = Sampler::Clock::now();
  while (sensor.readings < 20) std::this_thread::yield();
  const auto samples = sampler.stop(epoch);
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_EQ(samples[0].size(), samples[1].size());
  EXPECT_GE(samples[0].size(), 20U);
  for (std::size_t i = 1; i < samples[0].size(); ++i) {
    EXPECT_LT(samples[0][i - 1].seconds, samples[0][i].seconds);
    EXPECT_EQ(samples[0][i].reading.joules, samples[0][i - 1].reading.joules + 1);
  }
}

TEST(Sampler, keeps_every_second_reading_if_there_are_many) {
  constexpr std::size_t max = 8;
  Counting sensor;
  Sampler sampler({&sensor}, std::chrono::microseconds(10), max);
  sampler.start();
  while (sensor.readings < 14) std::this_thread::yield();
  const auto samples = sampler.stop(Sampler::Clock::now());
  ASSERT_LE(samples[0].size(), max);  // the last reading is always kept
  ASSERT_GE(samples[0].size(), max / 2);
  EXPECT_EQ(samples[0][0].reading.joules, 0);
  EXPECT_GE(samples[0][1].reading.joules, 2);
  for (std::size_t i = 1; i < samples[0].size(); ++i) {
    EXPECT_LT(samples[0][i - 1].reading.joules, samples[0][i].reading.joules);
  }
  EXPECT_EQ(samples[0].back().reading.joules, sensor.readings - 1);
}

class Failing : public Counting {
 public:
  explicit Failing(int good) : good_(good) {}
  Reading read() override {
    if (readings >= good_) throw std::runtime_error("the sensor is gone");
    return Counting::read();
  }

 private:
  int good_;
};

TEST(Sampler, has_no_readings_if_a_sensor_fails_and_can_be_restarted) {
  for (const int good : {0, 1, 5}) {
    Counting sensor;
    Failing failing(good);
    Sampler sampler({&sensor, &failing}, std::chrono::microseconds(10));
    const CapturedLog log;
    for (int section = 0; section < 2; ++section) {
      sampler.start();
      while (failing.readings < good) std::this_thread::yield();
      const auto samples = sampler.stop(Sampler::Clock::now());
      ASSERT_EQ(samples.size(), 2U);
      EXPECT_THAT(samples[0], IsEmpty());
      EXPECT_THAT(samples[1], IsEmpty());
    }
    EXPECT_THAT(log.lines(), HasSubstr("warning: sensors are not read: the sensor is gone"));
  }
}

TEST(Sampler, without_sensors_has_no_readings) {
  Sampler sampler({}, std::chrono::milliseconds(1));
  sampler.start();
  EXPECT_THAT(sampler.stop(Sampler::Clock::now()), IsEmpty());
}

}  // namespace
}  // namespace glinpack::sensors
