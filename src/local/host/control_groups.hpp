// What the control groups (versions 1 and 2) of this process, and those above them, leave to it; and numbers in the
// kernel's files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace glinpack {

/// The number behind "name" or "name:" in a file of such lines, /proc/meminfo for one.
std::optional<std::int64_t> number_named(const std::string& path, const std::string& name);

/// Bytes below the tightest memory limit, file pages that nobody uses counted as free; none where there is no limit.
std::optional<std::int64_t> memory_left_by_control_groups();

/// Processors that the tightest quota is worth, rounded up; 0 where there is none.
int processor_limit_of_control_groups();

}  // namespace glinpack
