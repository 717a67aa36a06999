// Which glinpack this is.
#pragma once

namespace glinpack {

extern const char* const version;     // "0.1.0"
extern const char* const git_commit;  // abbreviated, "-dirty" when the tree had changes; "unknown" outside a repository
extern const char* const compiler;    // "GNU 12.2.0"
extern const char* const compiler_flags;  // of this build type: "-O3 -DNDEBUG"

}  // namespace glinpack
