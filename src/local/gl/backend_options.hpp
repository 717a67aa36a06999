// Options that all GL backends have.
#pragma once

#include "backend/backend_record.hpp"

namespace glinpack::gl {

inline constexpr BackendOption shader_folder_option{
    .name = "shader-dir", .type = "DIR", .help = "Folder of GLSL files that override the built-in shaders"};

}  // namespace glinpack::gl
