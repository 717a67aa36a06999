# C++20 without extensions, and the warnings that every target is held to.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

add_library(glinpack_warnings INTERFACE)
target_compile_options(glinpack_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion)
if(GLINPACK_WERROR)
  target_compile_options(glinpack_warnings INTERFACE -Werror)
endif()
