# One object library; the shared and the static library are both made from it and both export only sotto_*.
# Floors, lowest first: a file sees its own floor and those below it, so an include that climbs does not compile. src/modules stands
# above all.
set(SOTTO_FLOORS)
foreach(floor core learn measure run)
  list(APPEND SOTTO_FLOORS ${CMAKE_SOURCE_DIR}/src/${floor})
  if(floor STREQUAL run)
    list(APPEND SOTTO_FLOORS ${CMAKE_SOURCE_DIR}/src) # "run/run_folder/..."
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS src/${floor}/*.c src/${floor}/*.S)
  set_source_files_properties(${sources} PROPERTIES INCLUDE_DIRECTORIES "${SOTTO_FLOORS}")
endforeach()
list(APPEND SOTTO_FLOORS ${CMAKE_SOURCE_DIR}/src/modules)
foreach(name IN LISTS SOTTO_MODULE_NAMES) # its own files alone see its header: the others are compiled alike with and without it
  file(GLOB sources CONFIGURE_DEPENDS src/modules/${name}/*.c)
  set_source_files_properties(${sources} PROPERTIES INCLUDE_DIRECTORIES "${SOTTO_FLOORS};${CMAKE_SOURCE_DIR}/src/modules/${name}/include")
endforeach()
file(GLOB_RECURSE SOTTO_SOURCES CONFIGURE_DEPENDS src/*.c src/*.S)
file(GLOB_RECURSE SOTTO_ISA_SOURCES CONFIGURE_DEPENDS src/*.isa.c)
list(FILTER SOTTO_SOURCES EXCLUDE REGEX "/base/isa_")
list(FILTER SOTTO_SOURCES EXCLUDE REGEX "${SOTTO_NOT_OF_LIBRARY}")
list(FILTER SOTTO_ISA_SOURCES EXCLUDE REGEX "${SOTTO_NOT_OF_LIBRARY}")
list(REMOVE_ITEM SOTTO_SOURCES ${SOTTO_ISA_SOURCES})
list(FILTER SOTTO_SOURCES EXCLUDE REGEX "/par/mpi/") # a plug-in, below
if(NOT SOTTO_DNNL)
  list(FILTER SOTTO_SOURCES EXCLUDE REGEX "/nn/dnnl/")
endif()

# The report's page parts are included by the assembler.
file(GLOB SOTTO_ASSETS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/measure/report/page/*.html ${CMAKE_SOURCE_DIR}/src/measure/report/page/*.css
     ${CMAKE_SOURCE_DIR}/src/measure/report/page/*.js ${CMAKE_SOURCE_DIR}/src/measure/report/certificate/*.css)
set_source_files_properties(src/measure/report/page/assets.S PROPERTIES OBJECT_DEPENDS "${SOTTO_ASSETS};${CHART_JS}")

# Coverage is that of the privacy core, built as written (no optimisation); the rest runs at full speed.
if(SOTTO_COVERAGE)
  set(SOTTO_CORE ${SOTTO_SOURCES})
  list(FILTER SOTTO_CORE INCLUDE REGEX "/src/core/dp/")
  set_source_files_properties(${SOTTO_CORE} PROPERTIES COMPILE_OPTIONS "-U_FORTIFY_SOURCE;-O0;--coverage")
endif()

# All tables of options: a table is listed by its definition (src/core/options/option_tables.h). Those of modules stand apart, so that
# another choice of modules does not compile the floors again.
file(GLOB_RECURSE SOTTO_TABLE_FILES CONFIGURE_DEPENDS src/*_rows.c)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${SOTTO_TABLE_FILES})
list(FILTER SOTTO_TABLE_FILES EXCLUDE REGEX "${SOTTO_NOT_OF_LIBRARY}")
set(floor_tables "")
set(module_tables "")
foreach(file IN LISTS SOTTO_TABLE_FILES)
  set(tables floor_tables)
  if(file MATCHES "/src/modules/")
    set(tables module_tables)
  endif()
  file(STRINGS ${file} lines REGEX "^const struct sotto_option options_[a-z0-9_]+\\[\\]")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE ".*options_([a-z0-9_]+).*" "OPTIONS(\\1)\n" row "${line}")
    string(APPEND ${tables} ${row})
  endforeach()
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/options/floor_tables.h CONTENT "${floor_tables}")
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/options/all_tables.h CONTENT "#include \"options/floor_tables.h\"\n${module_tables}")

add_library(sotto_objects OBJECT ${SOTTO_SOURCES})
target_include_directories(sotto_objects PUBLIC include ${CMAKE_BINARY_DIR}/generated)
# Numbers are printed and read as in the C locale, whatever the process has set.
target_compile_options(sotto_objects PRIVATE $<$<COMPILE_LANGUAGE:C>:SHELL:-include ${CMAKE_SOURCE_DIR}/src/core/base/c_locale.h>)
target_link_libraries(sotto_objects PUBLIC sotto_deps)
target_compile_definitions(sotto_objects PRIVATE SOTTO_VERSION="${PROJECT_VERSION}" SOTTO_CHART_JS="${CHART_JS}"
                           SOTTO_SOURCE_DIR="${CMAKE_SOURCE_DIR}" SOTTO_DATA_PREFIX="${CMAKE_INSTALL_PREFIX}/share/sotto"
                           SOTTO_DEMO_YAML="${CMAKE_SOURCE_DIR}/experiments/demo.yaml")
set_source_files_properties(src/core/par/team_open.c PROPERTIES COMPILE_DEFINITIONS SOTTO_LIBRARY_FOLDER="${CMAKE_INSTALL_FULL_LIBDIR}")
set_property(SOURCE src/run/run_assets.S APPEND PROPERTY OBJECT_DEPENDS ${CMAKE_SOURCE_DIR}/experiments/demo.yaml)
set(SOTTO_OBJECTS $<TARGET_OBJECTS:sotto_objects>)

# NAME.isa.c is compiled once per instruction-set level (src/core/base/cpu.h); elsewhere than x86-64, plain copies. These files alone use
# instructions that v4bf16 adds (ISA_TABLE_BF16); the others have no copy for it.
set(SOTTO_ISA_BF16_SOURCES src/learn/nn/kernel/depthwise_kernels.isa.c src/learn/nn/kernel/depthwise_rows.isa.c src/learn/nn/kernel/norm_kernels.isa.c
  src/learn/nn/kernel/pointwise.isa.c src/learn/nn/conv/bf16_kernels.isa.c src/learn/nn/conv/winograd_kernels.isa.c
  src/learn/nn/layer/residual_noise.isa.c)
set(SOTTO_ISA_LEVELS v2 v3 v4 v4bf16)
set(SOTTO_ISA_FLAGS_v2 -march=x86-64-v2)
set(SOTTO_ISA_FLAGS_v3 -march=x86-64-v3)
set(SOTTO_ISA_FLAGS_v4 -march=x86-64-v4 -mprefer-vector-width=512)
set(SOTTO_ISA_FLAGS_v4bf16 -march=x86-64-v4 -mavx512bf16 -mavx512vnni -mprefer-vector-width=512)
foreach(level IN LISTS SOTTO_ISA_LEVELS)
  set(sources ${SOTTO_ISA_SOURCES})
  if(level STREQUAL v4bf16)
    set(sources ${SOTTO_ISA_BF16_SOURCES})
  endif()
  add_library(sotto_isa_${level} OBJECT ${sources} src/core/base/isa_${level}.c)
  target_include_directories(sotto_isa_${level} PRIVATE include ${CMAKE_BINARY_DIR}/generated)
  target_link_libraries(sotto_isa_${level} PRIVATE sotto_deps)
  target_compile_definitions(sotto_isa_${level} PRIVATE SOTTO_ISA_SUFFIX=${level})
  target_compile_options(sotto_isa_${level} PRIVATE -O3 -fno-math-errno -Wno-psabi) # sqrt without errno vectorises
  if(SOTTO_SANITIZE) # most of the build: checks in unrolled loops, for which the places of variables are sought for the debugger
    target_compile_options(sotto_isa_${level} PRIVATE -O1 $<$<C_COMPILER_ID:GNU>:-fno-var-tracking>)
    if(NOT SOTTO_SANITIZE_ALL) # where one of these does harm, AddressSanitizer tells of the access
      target_compile_options(sotto_isa_${level} PRIVATE -fno-sanitize=null,object-size,pointer-overflow)
    endif()
  endif()
  if(SOTTO_FUZZ)
    target_compile_options(sotto_isa_${level} PRIVATE -O1 -fno-sanitize=all) # readers are fuzzed; kernels take most of the build
  endif()
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    target_compile_options(sotto_isa_${level} PRIVATE ${SOTTO_ISA_FLAGS_${level}})
  endif()
  list(APPEND SOTTO_OBJECTS $<TARGET_OBJECTS:sotto_isa_${level}>)
endforeach()

add_library(sotto_shared SHARED ${SOTTO_OBJECTS})
set(SOTTO_SOVERSION 0.3) # no promise about the binary interface before 1.0: CONTRIBUTING.md says when the number grows
set_target_properties(sotto_shared PROPERTIES OUTPUT_NAME sotto SOVERSION ${SOTTO_SOVERSION})
target_include_directories(sotto_shared INTERFACE include ${SOTTO_LAB_INCLUDES} ${CMAKE_BINARY_DIR}/generated)
target_link_libraries(sotto_shared PRIVATE sotto_deps)
target_link_options(sotto_shared PRIVATE -Wl,-z,nodelete) # FLINT keeps pointers to ball_memory.c

# The static library is one relinked object with every other symbol localised, so it cannot clash with its user.
set(SOTTO_STATIC ${CMAKE_BINARY_DIR}/libsotto.a)
if(SOTTO_SANITIZE OR SOTTO_COVERAGE)
  set(SOTTO_LOCALISE true) # instrumented objects keep their registration symbols
else()
  set(SOTTO_LOCALISE ${CMAKE_OBJCOPY} --localize-hidden)
endif()
add_custom_command(OUTPUT ${SOTTO_STATIC}
  COMMAND ${CMAKE_LINKER} -r -o sotto_all.o ${SOTTO_OBJECTS}
  COMMAND ${SOTTO_LOCALISE} sotto_all.o
  COMMAND ${CMAKE_COMMAND} -E rm -f ${SOTTO_STATIC}
  COMMAND ${CMAKE_AR} rcs ${SOTTO_STATIC} sotto_all.o
  DEPENDS sotto_objects ${SOTTO_OBJECTS} COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target(sotto_static_file ALL DEPENDS ${SOTTO_STATIC})
add_library(sotto_static STATIC IMPORTED GLOBAL)
set_target_properties(sotto_static PROPERTIES IMPORTED_LOCATION ${SOTTO_STATIC})
target_include_directories(sotto_static INTERFACE ${CMAKE_SOURCE_DIR}/include ${SOTTO_LAB_INCLUDES} ${CMAKE_BINARY_DIR}/generated)
target_link_libraries(sotto_static INTERFACE sotto_deps)
add_dependencies(sotto_static sotto_static_file)

# Tests and benchmarks see internals through an archive, so that each program links only what it uses.
add_library(sotto_internals STATIC EXCLUDE_FROM_ALL ${SOTTO_OBJECTS})
target_link_libraries(sotto_internals PUBLIC sotto_deps)

# The plug-in for MPI, where an MPI library is found. It is loaded when a launcher started several ranks (src/core/par/team_open.c).
if(SOTTO_MPI AND NOT (CMAKE_CROSSCOMPILING AND SOTTO_MPI STREQUAL AUTO)) # the MPI library found may be that of the building machine
  find_package(MPI QUIET COMPONENTS C)
  if(MPI_C_FOUND)
    add_library(sotto_mpi MODULE src/core/par/mpi/transport_mpi.c)
    target_include_directories(sotto_mpi PRIVATE ${CMAKE_SOURCE_DIR}/src/core)
    target_link_libraries(sotto_mpi PRIVATE MPI::MPI_C)
  elseif(NOT SOTTO_MPI STREQUAL AUTO)
    message(FATAL_ERROR "SOTTO_MPI is ON, but no MPI library was found (libopenmpi-dev)")
  endif()
endif()
