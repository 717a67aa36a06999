// The error for unusable user input.
#pragma once

#include <stdexcept>

namespace glinpack::app {

/// The message is one line for the user: file and line or option, the value, and the remedy. Leads to exit code 2.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace glinpack::app
