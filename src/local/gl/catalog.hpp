// The EGL devices for the program (backend/device_catalog.hpp).
#pragma once

#include "backend/device_catalog.hpp"

namespace glinpack::gl {

extern const DeviceCatalog device_catalog;

}  // namespace glinpack::gl
