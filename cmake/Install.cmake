# GNU directories; the program finds nothing of the build tree in them and needs none of it.
install(TARGETS glinpack RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY shaders configs DESTINATION ${CMAKE_INSTALL_DATADIR}/glinpack)
install(DIRECTORY scripts/slurm DESTINATION ${CMAKE_INSTALL_DATADIR}/glinpack
        FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
install(FILES docs/glinpack.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES README.md docs/result.schema.json DESTINATION ${CMAKE_INSTALL_DOCDIR})
