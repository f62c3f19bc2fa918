# A module is a folder of src/modules with its rows for the lists of plug-ins in NAME_plugs.h. Nothing outside names it: all that the
# build knows of modules is found here, so a module is added and removed by its folder.
set(SOTTO_MODULES ALL CACHE STRING "Modules to build: ALL, NONE, or names of folders of src/modules")
file(GLOB plugs CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/src/modules src/modules/*/*_plugs.h)
set(SOTTO_MODULE_NAMES)
set(SOTTO_MODULES_LEFT_OUT)
set(SOTTO_LAB_INCLUDES)
set(plug_rows "")
set(lab "")
set(module_names "")
file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/include include/sotto/lab/*.h)
foreach(header IN LISTS headers)
  string(APPEND lab "#include \"${header}\"\n")
endforeach()
foreach(file IN LISTS plugs)
  get_filename_component(name ${file} DIRECTORY)
  if(SOTTO_MODULES STREQUAL ALL OR name IN_LIST SOTTO_MODULES)
    list(APPEND SOTTO_MODULE_NAMES ${name})
    list(APPEND SOTTO_LAB_INCLUDES ${CMAKE_SOURCE_DIR}/src/modules/${name}/include)
    string(APPEND plug_rows "#include \"${CMAKE_SOURCE_DIR}/src/modules/${file}\"\n")
    string(APPEND lab "#include \"sotto/lab/${name}.h\"\n")
    string(APPEND module_names "${name}\n")
  else()
    list(APPEND SOTTO_MODULES_LEFT_OUT ${name})
  endif()
endforeach()
set(unknown ${SOTTO_MODULES})
list(REMOVE_ITEM unknown ALL NONE ${SOTTO_MODULE_NAMES})
if(unknown)
  message(FATAL_ERROR "SOTTO_MODULES: there is no module '${unknown}'; expected ALL, NONE, or names of ${SOTTO_MODULE_NAMES} ${SOTTO_MODULES_LEFT_OUT}")
endif()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/modules/all_plugs.h CONTENT "${plug_rows}" @ONLY)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/sotto/lab.h @ONLY CONTENT "/* lab.h - all headers without a promise, with those of the modules of this build: they may change with any version. */
#ifndef SOTTO_LAB_H
#define SOTTO_LAB_H

${lab}
#endif
")
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/modules/names.txt CONTENT "${module_names}" @ONLY) # for tools and tests
# Sources of modules that are not built, and what is no part of the library.
set(SOTTO_NOT_OF_LIBRARY "/src/modules/[^/]+/(bench|cli|tests)/")
foreach(name IN LISTS SOTTO_MODULES_LEFT_OUT)
  string(APPEND SOTTO_NOT_OF_LIBRARY "|/src/modules/${name}/")
endforeach()
