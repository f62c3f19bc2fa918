# bench/bench_*.c: programs that time kernels and stages (make bench).
file(GLOB benches CONFIGURE_DEPENDS bench/bench_*.c)
foreach(source IN LISTS benches)
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE include src bench tests)
  target_link_libraries(${name} PRIVATE sotto_internals)
endforeach()
