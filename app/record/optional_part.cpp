#include "app/record/optional_part.hpp"

#include <spdlog/spdlog.h>

#include <exception>

namespace glinpack::app {

bool made_or_warned(const std::string& what, const std::function<void()>& make) {
  try {
    make();
    return true;
  } catch (const std::exception& error) {
    spdlog::warn("{} is left out: {}", what, error.what());
    return false;
  }
}

}  // namespace glinpack::app
