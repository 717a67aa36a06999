// Errors with their status.
#pragma once

#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>

#include "base/matrix_view.hpp"
#include "glinpack.h"

namespace glinpack::library {

class Failure : public std::runtime_error {
 public:
  Failure(glinpack_status status, const std::string& text) : std::runtime_error(text), status_(status) {}
  glinpack_status status() const { return status_; }

 private:
  glinpack_status status_;
};

/// No memory for a matrix of this shape.
Failure too_little_memory(Index rows, Index columns, std::size_t bytes_of_element);

/// The status and text of any exception.
Failure failure_of(const std::exception_ptr& error);

}  // namespace glinpack::library
