# The program links the library as any user of it does: both forms hide internals, so the linker enforces "public API only".
# With SOTTO_STATIC_PROGRAM it can be copied away alone, an experiment's program for instance.
option(SOTTO_STATIC_PROGRAM "Put the library into the program" OFF)
set(SOTTO_LINKED $<IF:$<BOOL:${SOTTO_STATIC_PROGRAM}>,sotto_static,sotto_shared>)
file(GLOB SOTTO_CLI_SOURCES CONFIGURE_DEPENDS cli/*.c cli/*/*.c)
list(FILTER SOTTO_CLI_SOURCES EXCLUDE REGEX "/cli/main.c$")
foreach(name IN LISTS SOTTO_MODULE_NAMES)
  file(GLOB sources CONFIGURE_DEPENDS src/modules/${name}/cli/*.c)
  set_source_files_properties(${sources} PROPERTIES INCLUDE_DIRECTORIES ${CMAKE_SOURCE_DIR}/src/modules/${name}/include)
  list(APPEND SOTTO_CLI_SOURCES ${sources})
endforeach()
# The one file of the library that lists of the program include: base/plugs.h.
set(SOTTO_CLI_INCLUDES cli include ${CMAKE_BINARY_DIR}/generated src/core)
# Compiled once: for the program, for its copy with old defects (cmake/tests.cmake) and for the test of its options.
add_library(sotto_cli OBJECT ${SOTTO_CLI_SOURCES})
target_include_directories(sotto_cli PUBLIC ${SOTTO_CLI_INCLUDES})
target_compile_definitions(sotto_cli PUBLIC SOTTO_VERSION="${PROJECT_VERSION}")
add_executable(sotto cli/main.c $<TARGET_OBJECTS:sotto_cli>)
target_include_directories(sotto PRIVATE ${SOTTO_CLI_INCLUDES})
target_link_libraries(sotto PRIVATE ${SOTTO_LINKED} m)
# An installed program finds its library beside it; where the system looks anyway (/usr), it names no place.
if(NOT CMAKE_INSTALL_FULL_LIBDIR IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
  file(RELATIVE_PATH to_library ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(sotto PROPERTIES INSTALL_RPATH "$ORIGIN/${to_library}")
endif()
target_compile_definitions(sotto PRIVATE SOTTO_VERSION="${PROJECT_VERSION}")

# examples/NN_NAME.c: one page each, on the public interface alone (target examples); tests/cli/examples.bats runs them at a landing.
add_custom_target(examples)
file(GLOB SOTTO_EXAMPLES CONFIGURE_DEPENDS examples/[0-9][0-9]_*.c)
foreach(source IN LISTS SOTTO_EXAMPLES)
  get_filename_component(name ${source} NAME_WE)
  add_executable(example_${name} EXCLUDE_FROM_ALL ${source})
  add_dependencies(examples example_${name})
  target_link_libraries(example_${name} PRIVATE ${SOTTO_LINKED} m)
endforeach()
