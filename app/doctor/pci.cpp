#include "app/doctor/pci.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>

#include "sensors/kernel_sensors.hpp"

namespace glinpack::app::doctor {

namespace {

namespace fs = std::filesystem;

std::string pci_folder(const std::string& root) { return root + "/sys/bus/pci/devices/"; }

// Reads a number in base 10, or in base 16 after 0x; `otherwise` if the text is not a number.
int number_of(std::string_view text, int otherwise) {
  const int base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  int number = otherwise;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end > text.data() ? number : otherwise;
}

// sysfs nests a device's folder in the folders of its bridges: .../pci0000:00/0000:00:01.0/0000:18:00.0
std::vector<std::string> bridges_above(const fs::path& device) {
  std::error_code error;
  const fs::path real = fs::canonical(device, error);
  std::vector<std::string> bridges;
  if (error) return bridges;
  for (const fs::path& part : real.parent_path()) {
    const std::string name = part.string();
    if (sensors::is_pci_address(name) || name.starts_with("pci")) bridges.push_back(name);
  }
  return bridges;
}

std::string hexadecimal_digits(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (std::isxdigit(static_cast<unsigned char>(c)) != 0) {
      digits += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return digits;
}

// NVIDIA's module has a folder for each GPU, named by its address. Its file `information` has a line "GPU UUID:
// GPU-...".
std::string nvidia_address(const std::string& root, const std::string& uuid) {
  const std::string folder = root + "/proc/driver/nvidia/gpus/";
  const std::string wanted = hexadecimal_digits(uuid);
  for (const std::string& address : names_in(folder, "")) {
    std::ifstream file(folder + address + "/information");
    for (std::string line; std::getline(file, line);) {
      const std::size_t at = line.find("GPU-");
      if (line.starts_with("GPU UUID") && at != std::string::npos &&
          hexadecimal_digits(line.substr(at + 4)) == wanted) {
        return address;
      }
    }
  }
  return {};
}

}  // namespace

std::vector<int> parse_processor_list(std::string_view text) {
  std::vector<int> processors;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t dash = part.find('-');
    const int first = number_of(part.substr(0, dash), -1);
    const int last = dash == std::string_view::npos ? first : number_of(part.substr(dash + 1), -1);
    if (first < 0) continue;
    for (int processor = first; processor <= last; ++processor) processors.push_back(processor);
  }
  return processors;
}

std::string processor_list(const std::vector<int>& processors) {
  std::string text;
  for (std::size_t first = 0; first < processors.size();) {
    std::size_t last = first;
    while (last + 1 < processors.size() && processors[last + 1] == processors[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(processors[first]);
    if (last > first) text += "-" + std::to_string(processors[last]);
    first = last + 1;
  }
  return text;
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line.substr(0, line.find_last_not_of(" \t\r") + 1);
}

std::vector<std::string> names_in(const std::string& folder, std::string_view prefix) {
  std::vector<std::string> names = sensors::names_in(folder);
  std::erase_if(names, [prefix](const std::string& name) { return !name.starts_with(prefix); });
  return names;
}

PciDevice read_pci_device(const std::string& root, const std::string& address) {
  const std::string folder = pci_folder(root) + address;
  std::error_code error;
  if (!sensors::is_pci_address(address) || !fs::exists(folder, error)) return {};
  return {.address = address,
          .vendor = number_of(first_line(folder + "/vendor"), 0),
          .numa_node = number_of(first_line(folder + "/numa_node"), -1),
          .local_processors = parse_processor_list(first_line(folder + "/local_cpulist")),
          .width = number_of(first_line(folder + "/current_link_width"), 0),
          .largest_width = number_of(first_line(folder + "/max_link_width"), 0),
          .speed = first_line(folder + "/current_link_speed"),
          .bridges = bridges_above(folder)};
}

std::vector<PciDevice> list_gpus(const std::string& root) {
  constexpr std::array<int, 4> vendors{0x10de, 0x1002, 0x8086, 0x1ed5};
  constexpr int display_controller = 0x03;
  std::vector<PciDevice> gpus;
  for (const std::string& address : names_in(pci_folder(root), "")) {
    const int device_class = number_of(first_line(pci_folder(root) + address + "/class"), 0) >> 16;
    if (device_class != display_controller) continue;
    PciDevice device = read_pci_device(root, address);
    if (std::find(vendors.begin(), vendors.end(), device.vendor) != vendors.end()) gpus.push_back(std::move(device));
  }
  return gpus;
}

std::string pci_address_of(const std::string& root, const std::string& drm_file, const std::string& uuid) {
  if (const auto address = sensors::pci_address_of(root, drm_file); address && sensors::is_pci_address(*address))
    return *address;
  return uuid.empty() ? std::string() : nvidia_address(root, uuid);
}

std::string pci_distance(const PciDevice& a, const PciDevice& b) {
  if (a.bridges.empty() || b.bridges.empty()) return {};
  const auto [end_a, end_b] = std::mismatch(a.bridges.begin(), a.bridges.end(), b.bridges.begin(), b.bridges.end());
  const auto common = end_a - a.bridges.begin();
  if (common == 0) return a.numa_node == b.numa_node ? "NODE" : "SYS";
  if (common == 1) return "PHB";
  const bool one_bridge = end_a == a.bridges.end() && end_b == b.bridges.end();
  return one_bridge ? "PIX" : "PXB";
}

std::string nvidia_kernel_driver() {
  const std::string line = first_line("/proc/driver/nvidia/version");
  const std::size_t module = line.find("Kernel Module");
  if (module == std::string::npos) return {};
  for (std::size_t at = module; (at = line.find_first_of("0123456789", at)) != std::string::npos;) {
    const std::size_t end = line.find_first_not_of("0123456789.", at);
    const std::string number = line.substr(at, end - at);
    if (number.find('.') != std::string::npos) return number;
    at = end;
  }
  return {};
}

}  // namespace glinpack::app::doctor
