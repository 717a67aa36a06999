#include "app/report/optional_part.hpp"

#include <exception>
#include <ostream>

namespace glinpack::app {

bool made_or_warned(const std::string& what, const std::function<void()>& make, std::ostream& warnings) {
  try {
    make();
    return true;
  } catch (const std::exception& error) {
    warnings << "glinpack: warning: " << what << " is left out: " << error.what() << "\n" << std::flush;
    return false;
  }
}

}  // namespace glinpack::app
