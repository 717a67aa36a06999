#include "library/session.hpp"

#include <limits>
#include <new>

#include "solvers/elimination/elimination.hpp"

namespace glinpack::library {
namespace {

thread_local std::string last_error;

}  // namespace

Failure failure_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Failure& failure) {
    return failure;
  } catch (const OperationNotDone& cancelled) {
    return {GLINPACK_CANCELLED, cancelled.what()};
  } catch (const std::bad_alloc&) {
    return {GLINPACK_OUT_OF_MEMORY, "the host has too little memory"};
  } catch (const std::exception& other) {
    return {GLINPACK_FAILED, other.what()};
  } catch (...) {
    return {GLINPACK_FAILED, "unknown error"};
  }
}

void note_error(const std::string& text) noexcept {
  try {
    last_error = text;
  } catch (...) {
    last_error.clear();
  }
}

std::string text_of(const Shape& shape) { return std::to_string(shape.rows) + " x " + std::to_string(shape.columns); }

void check_shape(const Shape& shape) {
  need(shape.rows >= 0 && shape.columns >= 0, GLINPACK_INVALID_ARGUMENT,
       "a matrix cannot be " + text_of(shape) + ": an extent is negative");
  constexpr Index most_elements = std::numeric_limits<Index>::max() / 64;  // padding, and bytes of an element
  need(shape.columns == 0 || shape.rows <= most_elements / shape.columns, GLINPACK_OUT_OF_MEMORY,
       "a matrix of " + text_of(shape) + " exceeds the address space");
  need(shape.precision == GLINPACK_SINGLE || shape.precision == GLINPACK_DOUBLE, GLINPACK_INVALID_ARGUMENT,
       "the precision is neither GLINPACK_SINGLE nor GLINPACK_DOUBLE");
}

}  // namespace glinpack::library

using namespace glinpack::library;

extern "C" {

const char* glinpack_last_error() { return last_error.c_str(); }

}  // extern "C"
