# What glinpack is built on. Debian's packages: scripts/install-deps.sh.
option(GLINPACK_FETCH "Download missing libraries with FetchContent: CLI11, spdlog, nlohmann-json, toml++, xxHash, glslang, Vulkan's" OFF)


# glinpack_need(FOUND NAME DEBIAN FEDORA SPACK): unless FOUND, a variable or a target, the package is missing. All
# missing packages are named in one error, since an administrator installs them with one command.
set(missing)
function(glinpack_need found name debian fedora spack)
  if(NOT ${found} AND NOT TARGET ${found})
    set(missing ${missing} "  ${name}: Debian ${debian}, Fedora/EPEL ${fedora}, Spack ${spack}" PARENT_SCOPE)
  endif()
endfunction()

# glinpack_fetch(NAME VERSION REPOSITORY TAG): a release, as what find_package(NAME VERSION) finds.
# FETCHCONTENT_SOURCE_DIR_<NAME> names a source tree that is there already.
function(glinpack_fetch name version repository tag)
  FetchContent_Declare(${name} GIT_REPOSITORY https://github.com/${repository} GIT_TAG ${tag} GIT_SHALLOW ON
                       FIND_PACKAGE_ARGS ${version} QUIET)
  FetchContent_MakeAvailable(${name})
endfunction()
if(GLINPACK_FETCH)
  include(FetchContent)
  glinpack_fetch(spdlog 1.9 gabime/spdlog v1.10.0)
  glinpack_fetch(nlohmann_json 3.11 nlohmann/json v3.11.2)
  glinpack_fetch(CLI11 2.1 CLIUtils/CLI11 v2.1.2)
  glinpack_fetch(tomlplusplus 3.0 marzer/tomlplusplus v3.3.0)
  glinpack_fetch(VulkanHeaders 1.1 KhronosGroup/Vulkan-Headers v1.3.239)
  set(ENABLE_OPT OFF)  # SPIR-V goes to drivers, which optimize it
  set(ENABLE_GLSLANG_BINARIES OFF)
  set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)  # these are options of glslang
  glinpack_fetch(glslang "" KhronosGroup/glslang 15.3.0)
else()
  find_package(spdlog 1.9 QUIET)
  find_package(nlohmann_json 3.11 QUIET)
  find_package(CLI11 2.1 QUIET)
  find_package(tomlplusplus 3.0 QUIET)
  find_package(VulkanHeaders 1.1 QUIET)
  find_package(glslang CONFIG QUIET)
endif()

# used as a header alone
find_path(GLINPACK_XXHASH xxhash.h)
if(GLINPACK_FETCH AND NOT GLINPACK_XXHASH)
  FetchContent_Declare(xxhash GIT_REPOSITORY https://github.com/Cyan4973/xxHash GIT_TAG v0.8.1 GIT_SHALLOW ON
                       SOURCE_SUBDIR not-built)
  FetchContent_MakeAvailable(xxhash)
  set(GLINPACK_XXHASH ${xxhash_SOURCE_DIR} CACHE PATH "Folder of xxhash.h" FORCE)
endif()

find_package(Threads REQUIRED)
find_package(PkgConfig QUIET)
find_package(OpenGL QUIET COMPONENTS OpenGL EGL)
find_package(GLEW QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(HWLOC QUIET IMPORTED_TARGET hwloc)
endif()
include(Blas)

# Name and packages for the message about missing ones: Debian, Fedora/EPEL, Spack
set(GLINPACK_MPI_PACKAGES_mpich "MPICH" "mpich libmpich-dev" mpich-devel mpich)
set(GLINPACK_MPI_PACKAGES_openmpi "Open MPI, complete" "openmpi-bin libopenmpi-dev" openmpi-devel openmpi)
set(GLINPACK_MPI_PACKAGES_system "MPI" "libmpich-dev or libopenmpi-dev" "mpich-devel or openmpi-devel" "mpich or openmpi")

if(NOT GLINPACK_MPI_PACKAGES_${GLINPACK_MPI})
  message(FATAL_ERROR "GLINPACK_MPI=${GLINPACK_MPI}: one of mpich, openmpi, system")
endif()

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
if(GLINPACK_MPI STREQUAL openmpi AND NOT MPI_CXX_COMPILER)
  set(MPI_CXX_FOUND OFF)  # CMake would take another MPI
else()
  find_package(MPI QUIET COMPONENTS CXX)
endif()

glinpack_need(PkgConfig_FOUND "pkg-config" pkg-config pkgconf-pkg-config pkgconf)
glinpack_need(MPI_CXX_FOUND ${GLINPACK_MPI_PACKAGES_${GLINPACK_MPI}})
glinpack_need(BLAS_FOUND ${GLINPACK_BLAS_PACKAGES})
glinpack_need(GLINPACK_LAPACKE "LAPACKE" liblapacke-dev openblas-devel openblas)
glinpack_need(OpenGL_EGL_FOUND "EGL" libegl-dev libglvnd-devel libglvnd)
glinpack_need(OpenGL_OpenGL_FOUND "OpenGL" libopengl-dev libglvnd-devel libglvnd)
glinpack_need(GLEW_FOUND "GLEW" libglew-dev glew-devel glew)
glinpack_need(Vulkan::Headers "Vulkan headers" libvulkan-dev vulkan-headers vulkan-headers)
glinpack_need(glslang::SPIRV "glslang" "glslang-dev glslang-tools spirv-tools" glslang-devel glslang)
glinpack_need(HWLOC_FOUND "hwloc" libhwloc-dev hwloc-devel hwloc)
glinpack_need(CLI11::CLI11 "CLI11" libcli11-dev cli11-devel cli11)
glinpack_need(spdlog::spdlog "spdlog" libspdlog-dev spdlog-devel spdlog)
glinpack_need(nlohmann_json::nlohmann_json "nlohmann-json 3.11" nlohmann-json3-dev json-devel nlohmann-json)
glinpack_need(tomlplusplus::tomlplusplus "toml++" libtomlplusplus-dev tomlplusplus-devel tomlplusplus)
glinpack_need(GLINPACK_XXHASH "xxHash" libxxhash-dev xxhash-devel xxhash)
if(missing)
  list(JOIN missing "\n" missing)
  message(FATAL_ERROR "These packages are missing:\n${missing}\n"
    "On Debian, scripts/install-deps.sh installs all, with MPICH. -DGLINPACK_FETCH=ON downloads CLI11, spdlog, nlohmann-json, toml++, xxHash, glslang\nand Vulkan's headers.")
endif()
