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
