# What Debian wants of a package and `cmake --install` does not make: copyright, changelog, compressed man pages.
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr)
file(COPY ${CPACK_GLINPACK_DEBIAN}/copyright ${CPACK_GLINPACK_DEBIAN}/changelog DESTINATION ${root}/share/doc/glinpack)
file(GLOB pages ${root}/share/man/man1/*.1)
if(NOT pages)
  message(FATAL_ERROR "there are no man pages in ${root}/share/man/man1")
endif()
execute_process(COMMAND gzip --best --no-name ${root}/share/doc/glinpack/changelog ${pages} COMMAND_ERROR_IS_FATAL ANY)
