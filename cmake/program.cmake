# The program links the static library, whose internals are hidden: the compiler enforces "public API only".
file(GLOB SOTTO_CLI_SOURCES CONFIGURE_DEPENDS cli/*.c cli/*/*.c)
add_executable(sotto ${SOTTO_CLI_SOURCES})
target_include_directories(sotto PRIVATE cli)
target_link_libraries(sotto PRIVATE sotto_static)
target_compile_definitions(sotto PRIVATE SOTTO_VERSION="${PROJECT_VERSION}")
