# Every dependency is a Debian package and becomes one interface target, sotto_deps. SOTTO_LIBS_PRIVATE is the same as flags, for users of
# the static library: names of shared libraries, which know what they need themselves.
find_package(PkgConfig REQUIRED)
add_library(sotto_deps INTERFACE)

pkg_check_modules(SOTTO_PC REQUIRED IMPORTED_TARGET libsodium jansson yaml-0.1 libturbojpeg libpng zlib)
target_link_libraries(sotto_deps INTERFACE PkgConfig::SOTTO_PC m ${CMAKE_DL_LIBS})
set(SOTTO_LIBS_PRIVATE -lsodium -ljansson -lyaml -lturbojpeg -lpng16 -lz -lm)

# Archives of data sets are optional: without libarchive they are refused by name; .npz needs only zlib.
option(SOTTO_ARCHIVE "read tar, zip and compressed data sets through libarchive" ON)
if(SOTTO_ARCHIVE)
  pkg_check_modules(SOTTO_LIBARCHIVE IMPORTED_TARGET libarchive)
  if(SOTTO_LIBARCHIVE_FOUND)
    target_include_directories(sotto_deps INTERFACE ${SOTTO_LIBARCHIVE_INCLUDE_DIRS}) # bundle_archive.c loads it
    set_source_files_properties(src/learn/data/files/bundle_archive.c PROPERTIES COMPILE_DEFINITIONS SOTTO_HAVE_ARCHIVE)
  else()
    message(STATUS "libarchive (libarchive-dev) not found: archives of data sets will be refused")
  endif()
endif()

# Downloads (`sotto data fetch`) are optional: without libcurl that verb says so and everything else works.
if(SOTTO_FETCH)
  pkg_check_modules(SOTTO_CURL IMPORTED_TARGET libcurl>=7.85)
  if(SOTTO_CURL_FOUND)
    target_include_directories(sotto_deps INTERFACE ${SOTTO_CURL_INCLUDE_DIRS}) # http_curl.c loads it
    target_compile_definitions(sotto_deps INTERFACE SOTTO_HAVE_CURL)
  else()
    message(STATUS "libcurl (libcurl4-openssl-dev) not found: 'sotto data fetch' will not be able to download")
  endif()
endif()

find_package(OpenMP COMPONENTS C)
if(OpenMP_C_FOUND)
  target_link_libraries(sotto_deps INTERFACE OpenMP::OpenMP_C)
  list(TRANSFORM OpenMP_C_LIB_NAMES PREPEND -l OUTPUT_VARIABLE openmp_libs)
  list(APPEND SOTTO_LIBS_PRIVATE ${openmp_libs})
endif()

# stb_image_resize: one header; newer packages renamed it.
find_path(STB_INCLUDE NAMES stb/stb_image_resize.h stb/stb_image_resize2.h REQUIRED)
target_include_directories(sotto_deps SYSTEM INTERFACE ${STB_INCLUDE})
if(EXISTS ${STB_INCLUDE}/stb/stb_image_resize2.h)
  target_compile_definitions(sotto_deps INTERFACE SOTTO_STB_RESIZE2)
endif()

# oneDNN: Debian's package config wants OpenCL headers that its -dev package does not pull in, so find the files.
if(SOTTO_DNNL)
  find_path(DNNL_INCLUDE NAMES dnnl.h oneapi/dnnl/dnnl.h REQUIRED)
  find_library(DNNL_LIBRARY NAMES dnnl REQUIRED)
  target_include_directories(sotto_deps SYSTEM INTERFACE ${DNNL_INCLUDE})
  target_link_libraries(sotto_deps INTERFACE ${DNNL_LIBRARY})
  target_compile_definitions(sotto_deps INTERFACE SOTTO_HAVE_DNNL)
  list(APPEND SOTTO_LIBS_PRIVATE -ldnnl)
endif()

# Chart.js is inlined into the report at build time.
find_file(CHART_JS NAMES chart.umd.min.js chart.min.js Chart.min.js
          PATHS /usr/share/javascript/chart.js /usr/share/nodejs/chart.js/dist NO_DEFAULT_PATH REQUIRED)

# Ball arithmetic: FLINT 3 holds Arb (headers below flint/); with FLINT 2 Arb is a library of its own.
find_path(FLINT_INCLUDE NAMES flint/flint.h REQUIRED)
find_library(FLINT_LIBRARY NAMES flint REQUIRED)
target_include_directories(sotto_deps SYSTEM INTERFACE ${FLINT_INCLUDE})
if(EXISTS ${FLINT_INCLUDE}/flint/arb.h)
  target_compile_definitions(sotto_deps INTERFACE SOTTO_FLINT3)
else()
  find_path(ARB_INCLUDE NAMES arb.h REQUIRED)
  find_library(ARB_LIBRARY NAMES flint-arb arb REQUIRED) # Debian renamed it: libarb is another library there
  get_filename_component(arb_name ${ARB_LIBRARY} NAME_WE)
  string(REGEX REPLACE "^lib" "-l" arb_name ${arb_name})
  list(APPEND SOTTO_LIBS_PRIVATE ${arb_name})
  target_include_directories(sotto_deps SYSTEM INTERFACE ${ARB_INCLUDE})
  target_link_libraries(sotto_deps INTERFACE ${ARB_LIBRARY})
endif()
find_library(GMP_LIBRARY NAMES gmp REQUIRED) # FLINT's own, for its memory functions
target_link_libraries(sotto_deps INTERFACE ${FLINT_LIBRARY} ${GMP_LIBRARY})
list(APPEND SOTTO_LIBS_PRIVATE -lflint -lgmp)
