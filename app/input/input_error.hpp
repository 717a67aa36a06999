// What the user gave and glinpack cannot use.
#pragma once

#include <stdexcept>
#include <string>

namespace glinpack::app {

/// The message is for the user, on one line: where (file and line, or option), the value, and the remedy. Leads to
/// exit code 2.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace glinpack::app
