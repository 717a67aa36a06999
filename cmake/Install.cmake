# GNU directories; the programs find nothing of the build tree in them and need none of it.
install(TARGETS glinpack glinpack-papers RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY shaders configs DESTINATION ${CMAKE_INSTALL_DATADIR}/glinpack)
install(DIRECTORY scripts/slurm DESTINATION ${CMAKE_INSTALL_DATADIR}/glinpack
        FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE
        PATTERN lab EXCLUDE)
install(DIRECTORY ${GLINPACK_MANUAL}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN *.1)
foreach(program glinpack glinpack-papers)
  install(FILES ${GLINPACK_MANUAL}/${program}.bash RENAME ${program}
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endforeach()
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN *.md PATTERN *.json
  PATTERN *.svg PATTERN *.png)

# libglinpack.so, its header, and what pkg-config and find_package(glinpack) read: the component `library`.
include(CMakePackageConfigHelpers)
set(cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/glinpack)
set(written ${CMAKE_BINARY_DIR}/config)

configure_package_config_file(cmake/glinpackConfig.cmake.in ${written}/glinpackConfig.cmake
                              INSTALL_DESTINATION ${cmake_folder})
write_basic_package_version_file(${written}/glinpackConfigVersion.cmake COMPATIBILITY SameMinorVersion)

# Paths relative to the file's own folder: `cmake --install --prefix` may name another prefix than was configured.
function(write_pkg_config)
  set(PREFIX ${CMAKE_INSTALL_PREFIX})
  set(LIBDIR ${CMAKE_INSTALL_FULL_LIBDIR})
  set(INCLUDEDIR ${CMAKE_INSTALL_FULL_INCLUDEDIR})
  if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" AND NOT IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
    string(REGEX REPLACE "/$" "" to_prefix ${to_prefix})
    set(PREFIX "\${pcfiledir}/${to_prefix}")
    set(LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
    set(INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
  endif()
  configure_file(cmake/glinpack.pc.in ${written}/glinpack.pc @ONLY)
endfunction()
write_pkg_config()

install(TARGETS glinpack_c EXPORT glinpackTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(EXPORT glinpackTargets NAMESPACE glinpack:: DESTINATION ${cmake_folder} COMPONENT library)
install(FILES ${written}/glinpackConfig.cmake ${written}/glinpackConfigVersion.cmake
        DESTINATION ${cmake_folder} COMPONENT library)
install(FILES ${written}/glinpack.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
install(FILES include/glinpack.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
install(FILES examples/solve.c DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT library)

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
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "benchmark of GPU clusters like HPL, in OpenGL and Vulkan")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "\
glinpack factorises a dense matrix on a grid of processes, one for each GPU,
solves, checks the answer as HPL does, and reports GFLOPS and where the time
went. Arithmetic is done by compute shaders of OpenGL or Vulkan, on every
vendor's GPU or Mesa's software drivers, or by OpenBLAS on the processor.")
# The libraries are what the program is linked with; the launcher has to be that of the same MPI.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
if(GLINPACK_MPI STREQUAL "openmpi")
  set(CPACK_DEBIAN_PACKAGE_DEPENDS openmpi-bin)
else()
  set(CPACK_DEBIAN_PACKAGE_DEPENDS mpich)
endif()
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libegl-mesa0, libgl1-mesa-dri")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "bash-completion, libvulkan1, mesa-vulkan-drivers, slurm-client")
include(CPack)
