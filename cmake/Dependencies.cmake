# What glinpack is built on. Debian's packages: scripts/install-deps.sh.
find_package(Threads REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(OpenGL REQUIRED COMPONENTS OpenGL EGL)
find_package(GLEW REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
# Its own CMake build installs no pkg-config file, its other build, Debian's, does.
pkg_check_modules(TOMLPLUSPLUS IMPORTED_TARGET tomlplusplus)
if(NOT TOMLPLUSPLUS_FOUND)
  find_package(tomlplusplus REQUIRED)
  add_library(PkgConfig::TOMLPLUSPLUS INTERFACE IMPORTED GLOBAL)
  target_link_libraries(PkgConfig::TOMLPLUSPLUS INTERFACE tomlplusplus::tomlplusplus)
endif()

# OpenBLAS with its own threads (not the OpenMP build), whatever the libblas.so alternative points to.
pkg_check_modules(OPENBLAS REQUIRED IMPORTED_TARGET openblas)

# Where several MPIs are installed side by side, Debian names their wrappers and launchers after them.
if(NOT GLINPACK_MPI STREQUAL "system")
  find_program(GLINPACK_MPICXX mpicxx.${GLINPACK_MPI})
  find_program(GLINPACK_MPIRUN mpirun.${GLINPACK_MPI})
  if(GLINPACK_MPICXX AND NOT MPI_CXX_COMPILER)
    set(MPI_CXX_COMPILER ${GLINPACK_MPICXX} CACHE FILEPATH "MPI's compiler wrapper")
  endif()
  if(GLINPACK_MPIRUN AND NOT MPIEXEC_EXECUTABLE)
    set(MPIEXEC_EXECUTABLE ${GLINPACK_MPIRUN} CACHE FILEPATH "MPI's launcher")
  endif()
endif()
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI REQUIRED COMPONENTS CXX)
