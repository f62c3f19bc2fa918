install(TARGETS sotto RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS sotto_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET sotto_mpi)
  install(TARGETS sotto_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/sotto)
endif()
install(FILES ${SOTTO_STATIC} DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/sotto DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN private EXCLUDE)
foreach(name IN LISTS SOTTO_MODULE_NAMES)
  set(folder src/modules/${name})
  install(DIRECTORY ${folder}/include/sotto DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
  if(IS_DIRECTORY ${CMAKE_SOURCE_DIR}/${folder}/schema)
    install(DIRECTORY ${folder}/schema/ DESTINATION ${CMAKE_INSTALL_DATADIR}/sotto/schemas FILES_MATCHING PATTERN "*.json")
  endif()
  if(IS_DIRECTORY ${CMAKE_SOURCE_DIR}/${folder}/experiments)
    install(DIRECTORY ${folder}/experiments DESTINATION ${CMAKE_INSTALL_DOCDIR})
  endif()
  install(FILES ${folder}/page.md RENAME ${name}.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs/modules)
endforeach()
install(FILES ${CMAKE_BINARY_DIR}/generated/sotto/lab.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sotto)

list(JOIN SOTTO_LIBS_PRIVATE " " SOTTO_PC_PRIVATE)
configure_file(cmake/sotto.pc.in sotto.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/sotto.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The verifiers of certificates that need Python alone, or a browser.
install(PROGRAMS verifier/sotto-verify.py DESTINATION ${CMAKE_INSTALL_DATADIR}/sotto)
install(FILES verifier/verify.html DESTINATION ${CMAKE_INSTALL_DATADIR}/sotto)

# What an outside tool reads, as JSON Schema.
install(DIRECTORY schemas DESTINATION ${CMAKE_INSTALL_DATADIR}/sotto FILES_MATCHING PATTERN "*.json")

# Servers of models for --target-command: one script, which looks at its name.
foreach(framework torch onnx sklearn)
  install(PROGRAMS servers/sotto-serve.py DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME sotto-serve-${framework})
  install(FILES servers/sotto-serve.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 RENAME sotto-serve-${framework}.1)
endforeach()

include(CMakePackageConfigHelpers)
configure_package_config_file(cmake/sotto-config.cmake.in sotto-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sotto PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(sotto-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/sotto-config.cmake ${CMAKE_BINARY_DIR}/sotto-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sotto)

# Man pages and completions are written by the program from the tables of its options (not where it cannot run).
if(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/man ${CMAKE_BINARY_DIR}/completion)
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/man/sotto.1 ${CMAKE_BINARY_DIR}/completion/sotto.bash
    COMMAND sotto help --man ${CMAKE_BINARY_DIR}/man
    COMMAND sotto help --completion ${CMAKE_BINARY_DIR}/completion
    DEPENDS sotto VERBATIM)
  add_custom_target(manual ALL DEPENDS ${CMAKE_BINARY_DIR}/man/sotto.1)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
  install(FILES ${CMAKE_BINARY_DIR}/completion/sotto.bash RENAME sotto
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${CMAKE_BINARY_DIR}/completion/_sotto DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${CMAKE_BINARY_DIR}/completion/sotto.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

install(FILES LICENSE README.md CHANGELOG.md THIRD_PARTY.md SECURITY.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs notes results examples experiments DESTINATION ${CMAKE_INSTALL_DOCDIR})
