# The program links the static library, which hides its internals: the compiler enforces "public API only".
file(GLOB SOTTO_CLI_SOURCES CONFIGURE_DEPENDS cli/*.c cli/*/*.c)
add_executable(sotto ${SOTTO_CLI_SOURCES})
target_include_directories(sotto PRIVATE cli)
target_link_libraries(sotto PRIVATE sotto_static)
target_compile_definitions(sotto PRIVATE SOTTO_VERSION="${PROJECT_VERSION}")

# examples/NN_NAME.c: one page each, on the public interface alone; tests/cli/examples.bats runs them.
file(GLOB SOTTO_EXAMPLES CONFIGURE_DEPENDS examples/[0-9][0-9]_*.c)
foreach(source IN LISTS SOTTO_EXAMPLES)
  get_filename_component(name ${source} NAME_WE)
  add_executable(example_${name} ${source})
  target_link_libraries(example_${name} PRIVATE sotto_static m)
endforeach()
