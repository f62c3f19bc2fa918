# Every C file of the copy knows MUTANT(n).
add_compile_options("$<$<COMPILE_LANGUAGE:C>:SHELL:-include '${CMAKE_SOURCE_DIR}/tests/mutants/mutant.h'>")
