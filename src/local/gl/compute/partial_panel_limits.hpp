// The part of ComputeLimits about panels. Not in partial_panel.hpp, which includes GL.
#pragma once

#include "base/matrix_view.hpp"

namespace glinpack::gl {

/// Limits of panels with partial pivoting (partial_panel.hpp). 0: the implementation's own; tests set smaller ones.
struct PartialPanelLimits {
  Index rows_per_group = 0;  // a power of two, at least 64
  Index groups = 0;          // at the same time, at most
  Index polls = 0;           // of one wait
  Index absent_groups = 0;   // never started, so that the others give up
  bool delays = false;       // random ones before a group publishes or arrives

  friend bool operator==(const PartialPanelLimits&, const PartialPanelLimits&) = default;
};

}  // namespace glinpack::gl
