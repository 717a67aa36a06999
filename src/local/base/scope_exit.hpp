#pragma once

#include <utility>

#include "base/non_copyable.hpp"

namespace glinpack {

/// Calls body(), which must not throw, at the end of its life.
template <class Body>
class ScopeExit : NonCopyable {
 public:
  explicit ScopeExit(Body body) : body_(std::move(body)) {}
  ~ScopeExit() { body_(); }

 private:
  Body body_;
};

}  // namespace glinpack
