// Numbers and words in the kernel's files, and why they cannot be read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace glinpack::sensors {

/// The first line, without its end; none where it cannot be read, errno then says why.
std::optional<std::string> line_of(const std::string& path);
/// The whole number, at least 0, that a file begins with; none where it does not.
std::optional<std::uint64_t> number_of(const std::string& path);
/// Names in a folder, in order; empty where there is no such folder.
std::vector<std::string> names_in(const std::string& folder);

}  // namespace glinpack::sensors
