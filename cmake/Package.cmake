# A Debian package of what is installed: `cpack -G DEB` in the build folder (docs/getting-started.md). packaging/debian
# has what Debian wants beside it, and try.sh, which installs and runs the package on a clean root.
set(GLINPACK_MAINTAINER "glinpack maintainers <maintainers@glinpack.invalid>" CACHE STRING "Who answers for the package")
set(packaging ${CMAKE_SOURCE_DIR}/packaging/debian)

string(TIMESTAMP GLINPACK_PACKAGE_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(${packaging}/changelog.in ${CMAKE_BINARY_DIR}/debian/changelog @ONLY)
configure_file(${packaging}/copyright.in ${CMAKE_BINARY_DIR}/debian/copyright @ONLY)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME glinpack)
set(CPACK_PACKAGE_VENDOR glinpack)
# all components except `python`
set(CPACK_INSTALL_CMAKE_PROJECTS
  ${CMAKE_BINARY_DIR} ${PROJECT_NAME} Unspecified / ${CMAKE_BINARY_DIR} ${PROJECT_NAME} library /)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_GLINPACK_DEBIAN ${CMAKE_BINARY_DIR}/debian)
set(CPACK_PRE_BUILD_SCRIPTS ${packaging}/complete.cmake)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${GLINPACK_MAINTAINER})
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "benchmark of GPU clusters like HPL, in OpenGL")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "\
glinpack factorises a dense matrix on a grid of processes, one for each GPU,
solves, checks the answer as HPL does, and reports GFLOPS and where the time
went. Arithmetic is done by OpenGL compute shaders, which run on every
vendor's GPU, by Mesa's software renderer, or by OpenBLAS on the processor.")
# The libraries are what the program is linked with; the launcher has to be that of the same MPI.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
if(GLINPACK_MPI STREQUAL "openmpi")
  set(CPACK_DEBIAN_PACKAGE_DEPENDS openmpi-bin)
else()
  set(CPACK_DEBIAN_PACKAGE_DEPENDS mpich)
endif()
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libegl-mesa0, libgl1-mesa-dri")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "bash-completion, libvulkan1, slurm-client")
include(CPack)
