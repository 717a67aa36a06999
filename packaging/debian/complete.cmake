# What Debian wants of a package and `cmake --install` does not make: copyright, changelog, compressed man pages.

# Without these CPack warns, and makes a package that depends on no library.
foreach(tool dpkg-shlibdeps file)
  find_program(found_${tool} ${tool})
  if(NOT found_${tool})
    message(FATAL_ERROR "${tool} is missing, with which the package's dependencies are found: scripts/install-deps.sh "
                        "installs it (Debian's packages dpkg-dev and file)")
  endif()
endforeach()

set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr)
file(COPY ${CPACK_GLINPACK_DEBIAN}/copyright ${CPACK_GLINPACK_DEBIAN}/changelog DESTINATION ${root}/share/doc/glinpack)
file(GLOB pages ${root}/share/man/man1/*.1)
if(NOT pages)
  message(FATAL_ERROR "there are no man pages in ${root}/share/man/man1")
endif()
execute_process(COMMAND gzip --best --no-name ${root}/share/doc/glinpack/changelog ${pages} COMMAND_ERROR_IS_FATAL ANY)
