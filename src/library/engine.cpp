#include "library/engine.hpp"

#include <pthread.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "gl/devices.hpp"
#include "host/host_memory.hpp"
#include "openblas/blas_library.hpp"

namespace glinpack::library {
namespace {

int default_threads() {
  if (const auto limit = thread_limit_of_environment()) return limit->threads;
  const int all = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int limit = processor_limit_of_control_groups();
  return limit > 0 ? std::min(all, limit) : all;
}

// Drivers of OpenGL do not work after fork(): a forked process inherits these.
std::atomic<pid_t> lister = 0;          // the process that listed devices, which opens them
std::atomic<bool> uses_device = false;  // a context was made for one

bool is_forked_from_lister() { return lister != 0 && lister != getpid(); }

std::vector<DeviceDescription> list_devices() {
  if (is_forked_from_lister()) {
    throw Failure(GLINPACK_NO_DEVICE,
                  "OpenGL was used before fork(), and cannot be used after it: start processes by spawn "
                  "(Python: multiprocessing.get_context(\"spawn\")), or choose the device \"openblas\"");
  }
  lister = getpid();
  return gl::list_devices();
}

std::optional<int> first_device(bool software) {
  for (const DeviceDescription& device : list_devices()) {
    if (device.usable && device.software == software) return device.index;
  }
  return std::nullopt;
}

int numbered_device(const std::string& text) {
  int number = -1;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || number < 0) {
    throw Failure(GLINPACK_NO_DEVICE, "no device '" + text + "': auto, openblas, software or a number is expected");
  }
  const std::vector<DeviceDescription> devices = list_devices();
  if (number >= static_cast<int>(devices.size())) {
    throw Failure(GLINPACK_NO_DEVICE, "no OpenGL device " + text + ": there are " + std::to_string(devices.size()));
  }
  const DeviceDescription& device = devices[static_cast<std::size_t>(number)];
  if (!device.usable) throw Failure(GLINPACK_NO_DEVICE, "OpenGL device " + text + ": " + device.why_unusable);
  return number;
}

}  // namespace

bool host_has(std::int64_t bytes) {
  constexpr std::int64_t min_checked = std::int64_t{16} << 20;
  if (bytes < min_checked) return true;
  const std::int64_t available = available_memory();
  return available == 0 || bytes < available;
}

EngineChoice choose_engine(const std::string& device, int threads) {
  constexpr int largest_threads = 4096;
  if (threads < 0 || threads > largest_threads) {
    throw Failure(GLINPACK_INVALID_ARGUMENT, "the number of threads is " + std::to_string(threads) + ", not 0 to " +
                                                 std::to_string(largest_threads));
  }
  EngineChoice choice{.gl_device = std::nullopt, .threads = threads > 0 ? threads : default_threads()};
  if (device == "auto") {
    // without a GPU it was OpenBLAS before fork(), too
    if (!is_forked_from_lister() || uses_device) choice.gl_device = first_device(false);
  } else if (device == "software") {
    choice.gl_device = first_device(true);
    if (!choice.gl_device) throw Failure(GLINPACK_NO_DEVICE, "no software OpenGL device: Mesa's llvmpipe is one");
  } else if (device != "openblas") {
    choice.gl_device = numbered_device(device);
  }
  if (choice.gl_device) uses_device = true;
  return choice;
}

EngineChoice choose_packed_engine(const std::string& device) {
  EngineChoice choice = choose_engine(device, 1);
  if (!choice.gl_device && device == "auto") choice = choose_engine("software", 1);
  if (!choice.gl_device) throw Failure(GLINPACK_NO_DEVICE, "packing 2x2 is one of textures: it needs an OpenGL device");
  choice.packed = true;
  return choice;
}

std::shared_mutex& Engine::forking() {
  static auto* const mutex = new std::shared_mutex;  // outlives static objects
  return *mutex;
}

// OpenBLAS ends its threads before the process forks: an operation that uses them would never end.
Engine::Engine(const EngineChoice& choice) : choice_(choice) {
  static std::once_flag once;
  std::call_once(once, [] {
    // in the new process the thread that locked it has another number
    pthread_atfork([] { forking().lock(); }, [] { forking().unlock(); }, [] { new (&forking()) std::shared_mutex; });
  });
}

std::string Engine::description() {
  if (on_gl()) {
    try {
      return device().description().renderer + ", " + device().description().version +
             (choice_.packed ? ", packing 2x2" : "");
    } catch (const std::runtime_error& error) {
      throw Failure(GLINPACK_NO_DEVICE, "OpenGL device " + std::to_string(*choice_.gl_device) + ": " + error.what());
    }
  }
  return blas_version() + ", " + std::to_string(choice_.threads) + (choice_.threads == 1 ? " thread" : " threads");
}

template <class Real>
Arithmetic<Real>& Engine::arithmetic() {
  auto& made = std::get<std::unique_ptr<Arithmetic<Real>>>(arithmetics_);
  if constexpr (std::is_same_v<Real, float>) {
    if (!made && choice_.packed) made = make_packed_arithmetic(device());
  }
  if (!made) {
    made = on_gl() ? make_gl_arithmetic<Real>(*choice_.gl_device, choice_.threads)
                   : make_host_arithmetic<Real>(choice_.threads);
  }
  return *made;
}

template Arithmetic<float>& Engine::arithmetic();
template Arithmetic<double>& Engine::arithmetic();

solvers::Device& Engine::device() {
  if (!device_) device_ = std::make_unique<solvers::Device>(*choice_.gl_device);
  return *device_;
}

void Engine::finish() {
  if (const auto& single = std::get<0>(arithmetics_)) single->finish();
  if (const auto& full = std::get<1>(arithmetics_)) full->finish();
  if (device_) {
    device_->finish();
    device_->clock().clear();
  }
}

void Engine::finish_after_error() noexcept {
  try {
    finish();
  } catch (...) {
    // the operation's error is reported
  }
}

}  // namespace glinpack::library
