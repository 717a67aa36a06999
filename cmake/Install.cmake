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
