# Each tests/KIND/MODULE/test_*.c is one cmocka program, linked with the objects so that it sees internals.
find_package(cmocka REQUIRED)
if(NOT TARGET cmocka::cmocka)
  add_library(cmocka::cmocka INTERFACE IMPORTED)
  target_link_libraries(cmocka::cmocka INTERFACE ${CMOCKA_LIBRARIES})
endif()
# Tests run side by side, so a thread that waits must not spin on a core that another test needs.
set(SOTTO_TEST_ENVIRONMENT OMP_WAIT_POLICY=passive)
set(SOTTO_TEST_TIMEOUT 600)
if(CMAKE_CROSSCOMPILING)
  set(SOTTO_TEST_TIMEOUT 7200) # emulated
elseif(SOTTO_SANITIZE)
  set(SOTTO_TEST_TIMEOUT 1800)
endif()
# gcc 12 for 64-bit ARM ends with an internal error where it vectorises fmax over differences, which only tests take.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64 AND CMAKE_C_COMPILER_ID STREQUAL GNU AND CMAKE_C_COMPILER_VERSION VERSION_LESS 13)
  set(SOTTO_TEST_OPTIONS -fno-tree-vectorize)
endif()
set(SOTTO_TEST_KINDS unit known property statistical fuzz end_to_end)
foreach(kind IN LISTS SOTTO_TEST_KINDS)
  file(GLOB sources CONFIGURE_DEPENDS tests/${kind}/*/test_*.c)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    target_compile_options(${name} PRIVATE ${SOTTO_TEST_OPTIONS})
    target_include_directories(${name} PRIVATE include src tests)
    target_link_libraries(${name} PRIVATE sotto_internals cmocka::cmocka)
    target_compile_definitions(${name} PRIVATE SOTTO_TEST_DIR="${CMAKE_SOURCE_DIR}/tests"
                               $<$<BOOL:${SOTTO_COVERAGE}>:SOTTO_COVERAGE>)
    add_test(NAME ${kind}/${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
    set_tests_properties(${kind}/${name} PROPERTIES LABELS ${kind} TIMEOUT ${SOTTO_TEST_TIMEOUT} ENVIRONMENT "${SOTTO_TEST_ENVIRONMENT}")
  endforeach()
endforeach()
# sotto_label(LABEL TEST...): of whatever kind the tests are
function(sotto_label label)
  foreach(name IN LISTS ARGN)
    set(found)
    foreach(kind IN LISTS SOTTO_TEST_KINDS)
      if(TEST ${kind}/${name})
        set(found ${kind}/${name})
      endif()
    endforeach()
    if(NOT found)
      message(FATAL_ERROR "the label ${label} lists ${name}, which is no test")
    endif()
    set_property(TEST ${found} APPEND PROPERTY LABELS ${label})
  endforeach()
endfunction()

# What tools/check-matrix runs: tests with results that depend on instruction set or threads, and those that depend on dtype too
# (others compare dtypes, or go through the instruction sets, by themselves).
set(SOTTO_MATRIX_DTYPE test_embed_views test_leaves test_pretrain test_pretrain_ranks test_pretrain_learns test_talos_runs test_train test_train_ranks)
set(SOTTO_MATRIX
    test_embed_blocks test_attriguard test_backends test_conv_bf16 test_conv_phases test_conv_point test_conv_shortcut test_conv_stride2 test_coins test_convex test_convex_exp test_convex_sgd test_depthwise test_dp_sgd test_dp_sgd_resume test_encoder
    test_dpsgd_ranks test_dpsgd_steps test_example_clipping test_example_part test_example_sums test_examples test_federated test_fft test_fine_tune test_floored_noise test_freeze test_generator test_generator_attacks test_golden_step test_gradient_penalty test_gradients test_head test_head_bits
    test_head_batch_train test_head_golden test_head_private test_input_gradient test_knn test_label_attacks test_layers test_losses test_ensemble test_model
    test_model_attacks test_plan_influence test_plan_norms test_plan_sketch test_private_ranks test_moment_heads test_moments test_head_delta test_network test_network_attacks test_noisy_attacks
    test_noisy_inputs test_olympus test_optimizer test_optimizer_ranks test_plan test_pretrained test_pretrained_certificates test_residual_noise test_residual_sde test_scattering test_sensitivity
    test_shadow_heads test_shadow_pool test_snapshots test_standardise test_stolen_layers test_talos test_talos_bounded test_transposed test_tree test_white_box test_white_box_known test_winograd)
sotto_label(matrix ${SOTTO_MATRIX} ${SOTTO_MATRIX_DTYPE})
sotto_label(matrix-dtype ${SOTTO_MATRIX_DTYPE})
# Tests of over 2 seconds: an emulated machine has no time for them (tools/check-systems).
set(SOTTO_LONG
    test_account_edges test_accounting_grid test_accountant_crosscheck test_autotune test_backends test_bad_parameters test_ball_memory test_balls
    test_certificates test_certified test_composition_rules test_conditions test_data_import test_dp_edges test_dp_failures test_dp_sgd test_dp_sgd_resume
    test_encoder_import test_events test_fixed_sampling test_floored_certificate test_floored_polynomials test_forgery test_golden_step test_head_private
    test_label_release test_layers test_ledger test_ledger_faults test_mechanisms test_network_attacks test_noisy_inputs test_pld test_pld_errors test_pld_known test_pld_whole
    test_pretrain test_pretrain_ranks test_privacy_accounting test_private_ranks test_release_doubles test_release_kinds test_reservations test_residual_sde test_silent_trainers test_stop
    test_stop_stages test_talos_runs test_train test_verification test_verify)
sotto_label(long ${SOTTO_LONG})
# Many sums through code that other tests run too: not repeated under sanitizers on each landing (make asan CUT=1).
sotto_label(long-sums test_accounting_grid test_certified test_pld test_pld_errors test_pld_known test_pld_whole test_privacy_accounting)
# They make archives; the library loads libarchive only when it reads one.
foreach(name test_compare test_data_attribute test_data_binary test_data_bundle test_data_fetch test_data_images test_data_import test_data_pictures test_encoding test_encoding_rows test_idc test_stop_stages test_svhn)
  if(TARGET PkgConfig::SOTTO_LIBARCHIVE)
    target_link_libraries(${name} PRIVATE PkgConfig::SOTTO_LIBARCHIVE)
  endif()
endforeach()
# They answer the library's question whether to go on (tests/support/stop_questions.h); one knows the number in the library's name.
foreach(name test_call_size test_stop test_stop_files test_stop_layers test_stop_stages)
  target_link_options(${name} PRIVATE LINKER:--wrap=context_check,--wrap=context_stopped)
endforeach()
target_compile_definitions(test_stop PRIVATE SOTTO_TEST_SOVERSION=$<TARGET_PROPERTY:sotto_shared,SOVERSION>)
# It reads the rows of the program's verbs.
set(SOTTO_CLI_ROWS ${SOTTO_CLI_SOURCES})
list(FILTER SOTTO_CLI_ROWS EXCLUDE REGEX "/cli/main.c$")
target_sources(test_option_rows PRIVATE ${SOTTO_CLI_ROWS})
target_include_directories(test_option_rows PRIVATE cli)
target_compile_definitions(test_option_rows PRIVATE SOTTO_VERSION="${PROJECT_VERSION}")
# These compile kernels themselves, as cmake/library.cmake does.
set_property(TARGET test_head_gradient test_floored_certificate APPEND PROPERTY COMPILE_OPTIONS -Wno-psabi)

# tests/fuzz/fuzz_*.c define LLVMFuzzerTestOneInput; the ordinary build links a driver that replays the corpus. libFuzzer
# replays it too (-runs=0): clang's checks stop at more than gcc's, an offset added to a null pointer among others.
file(GLOB fuzzers CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
add_custom_target(fuzzers)
foreach(source IN LISTS fuzzers)
  get_filename_component(name ${source} NAME_WE)
  string(REPLACE "fuzz_" "" parser ${name})
  if(SOTTO_FUZZ)
    add_executable(${name} ${source})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    set(replay -runs=0)
  else()
    add_executable(${name} ${source} tests/fuzz/replay.c)
    set(replay)
  endif()
  add_dependencies(fuzzers ${name})
  add_test(NAME fuzz/${name} COMMAND ${name} ${replay} ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${parser})
  set_tests_properties(fuzz/${name} PROPERTIES LABELS fuzz TIMEOUT 600)
  target_include_directories(${name} PRIVATE include src tests)
  target_link_libraries(${name} PRIVATE sotto_internals)
endforeach()

# The web server of the download tests.
add_executable(range_server tests/support/range_server.c)
target_include_directories(range_server PRIVATE tests)
# The model that the tests of --target-command ask.
add_executable(serve_model tests/support/serve_model.c)
target_link_libraries(serve_model PRIVATE m)
add_dependencies(test_target_command serve_model)
target_compile_definitions(test_target_command PRIVATE SERVE_MODEL="$<TARGET_FILE:serve_model>")

# The program with old defects, of which SOTTO_PLANTED brings one back: `sotto selftest --falsify` must catch every one. A call of a
# wrapped function goes to tests/planted, so that no defect lives in the sources of the product.
add_executable(sotto_planted ${SOTTO_CLI_SOURCES} tests/planted/planted.c tests/planted/planted_ranks.c)
target_include_directories(sotto_planted PRIVATE include src cli)
target_link_libraries(sotto_planted PRIVATE sotto_internals)
target_compile_definitions(sotto_planted PRIVATE SOTTO_VERSION="${PROJECT_VERSION}")
foreach(function sotto_dp_release_double sotto_head_train_private split_provenance sotto_rows_once sotto_provenance_once
        example_sums_bound file_hold tree_sums_create tree_sums_join rank_sums_join tree_segments plan_bind example_sums_take)
  target_link_options(sotto_planted PRIVATE -Wl,--wrap=${function})
endforeach()

find_program(BATS bats)
file(GLOB scripts CONFIGURE_DEPENDS tests/cli/*.bats)
foreach(script IN LISTS scripts)
  get_filename_component(name ${script} NAME_WE)
  if(BATS)
    add_test(NAME cli/${name} COMMAND ${BATS} ${script})
    set_tests_properties(cli/${name} PROPERTIES LABELS cli TIMEOUT 1800
      ENVIRONMENT "${SOTTO_TEST_ENVIRONMENT};SOTTO=$<TARGET_FILE:sotto>;SOTTO_PLANTED_PROGRAM=$<TARGET_FILE:sotto_planted>;SOTTO_BUILD=${CMAKE_BINARY_DIR};SOTTO_RANGE_SERVER=$<TARGET_FILE:range_server>;SOTTO_SERVE_MODEL=$<TARGET_FILE:serve_model>;SOTTO_SHARED=${CMAKE_SOURCE_DIR}/../shared")
  endif()
endforeach()
# Where nothing is known of earlier runs, the longest begin first, so that none of them is alone at the end.
foreach(name cli/selftest cli/interrupt cli/neighbours cli/identity property/test_pld property/test_dp_sgd)
  if(TEST ${name})
    set_tests_properties(${name} PROPERTIES COST 100)
  endif()
endforeach()
if(BATS)
  add_test(NAME slow/planted COMMAND ${BATS} ${CMAKE_SOURCE_DIR}/tests/cli/planted.bats)
  set_tests_properties(slow/planted PROPERTIES LABELS slow TIMEOUT 7200
    ENVIRONMENT "${SOTTO_TEST_ENVIRONMENT};SOTTO_PLANTED_PROGRAM=$<TARGET_FILE:sotto_planted>;SOTTO_PLANTED_TIMES=20")
  # Images that are more than memory: 27.6 GB on disk, or skipped.
  add_test(NAME slow/large_store COMMAND ${BATS} ${CMAKE_SOURCE_DIR}/tests/cli/large_store.bats)
  set_tests_properties(slow/large_store PROPERTIES LABELS slow TIMEOUT 7200
    ENVIRONMENT "${SOTTO_TEST_ENVIRONMENT};SOTTO=$<TARGET_FILE:sotto>;SOTTO_LARGE_IMAGES=1000000")
  add_test(NAME slow/mpi_network COMMAND ${BATS} ${CMAKE_SOURCE_DIR}/tests/cli/mpi_network.bats)
  set_tests_properties(slow/mpi_network PROPERTIES LABELS slow TIMEOUT 600
    ENVIRONMENT "${SOTTO_TEST_ENVIRONMENT};SOTTO=$<TARGET_FILE:sotto>;SOTTO_BUILD=${CMAKE_BINARY_DIR};SOTTO_MPI_NETWORK=1")
  add_test(NAME slow/mpi_bits COMMAND ${BATS} ${CMAKE_SOURCE_DIR}/tests/cli/mpi_bits.bats)
  set_tests_properties(slow/mpi_bits PROPERTIES LABELS slow TIMEOUT 7200
    ENVIRONMENT "${SOTTO_TEST_ENVIRONMENT};SOTTO=$<TARGET_FILE:sotto>;SOTTO_PLANTED_PROGRAM=$<TARGET_FILE:sotto_planted>;SOTTO_BUILD=${CMAKE_BINARY_DIR};SOTTO_MPI_BITS=all")
  add_test(NAME slow/mpi_neighbours COMMAND ${BATS} ${CMAKE_SOURCE_DIR}/tests/cli/mpi_neighbours.bats)
  set_tests_properties(slow/mpi_neighbours PROPERTIES LABELS slow TIMEOUT 3600
    ENVIRONMENT "${SOTTO_TEST_ENVIRONMENT};SOTTO=$<TARGET_FILE:sotto>;SOTTO_PLANTED_PROGRAM=$<TARGET_FILE:sotto_planted>;SOTTO_BUILD=${CMAKE_BINARY_DIR};SOTTO_MPI_NEIGHBOURS=all")
  add_test(NAME slow/mpi_kills COMMAND ${BATS} -f "killed ranks" ${CMAKE_SOURCE_DIR}/tests/cli/mpi_private.bats)
  set_tests_properties(slow/mpi_kills PROPERTIES LABELS slow TIMEOUT 7200
    ENVIRONMENT "${SOTTO_TEST_ENVIRONMENT};SOTTO=$<TARGET_FILE:sotto>;SOTTO_BUILD=${CMAKE_BINARY_DIR};SOTTO_RANK_KILLS=100")
endif()
# The Python package against the library just built, without pip or network. (A sanitizer would have to be in the interpreter.)
if(NOT SOTTO_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  add_test(NAME python/package COMMAND ${CMAKE_SOURCE_DIR}/python/tests/run $<TARGET_FILE:sotto_shared> ${CMAKE_BINARY_DIR}/python)
  set_tests_properties(python/package PROPERTIES LABELS python SKIP_RETURN_CODE 77 TIMEOUT 1200
    ENVIRONMENT "${SOTTO_TEST_ENVIRONMENT};SOTTO=$<TARGET_FILE:sotto>")
endif()
# Exact noise again, with 24 times as many draws.
add_test(NAME slow/floored_law COMMAND test_floored_law)
set_tests_properties(slow/floored_law PROPERTIES LABELS slow TIMEOUT 3600 ENVIRONMENT "${SOTTO_TEST_ENVIRONMENT};SOTTO_FLOORED_ROUNDS=24")
# Intervals of audits again, with 2,000 audits a cell and three seeds.
add_test(NAME slow/audit_coverage COMMAND test_audit_coverage_of_rates)
set_tests_properties(slow/audit_coverage PROPERTIES LABELS slow TIMEOUT 7200 ENVIRONMENT "${SOTTO_TEST_ENVIRONMENT};SOTTO_COVERAGE_AUDITS=2000;SOTTO_COVERAGE_SEEDS=3")
add_test(NAME check/includes COMMAND ${CMAKE_SOURCE_DIR}/tools/check-includes ${CMAKE_SOURCE_DIR})
add_test(NAME check/symbols COMMAND ${CMAKE_SOURCE_DIR}/tools/check-symbols $<TARGET_FILE:sotto_shared> ${SOTTO_STATIC})
add_test(NAME check/globals COMMAND ${CMAKE_SOURCE_DIR}/tools/check-globals ${CMAKE_BINARY_DIR})
add_test(NAME check/calls COMMAND ${CMAKE_SOURCE_DIR}/tools/check-calls ${CMAKE_BINARY_DIR})
set_tests_properties(check/includes check/calls check/symbols check/globals PROPERTIES LABELS check)
add_test(NAME check/headers COMMAND ${CMAKE_SOURCE_DIR}/tools/check-headers ${CMAKE_SOURCE_DIR})
add_test(NAME check/docs COMMAND ${CMAKE_SOURCE_DIR}/tools/check-docs ${CMAKE_SOURCE_DIR})
add_test(NAME check/words COMMAND ${CMAKE_SOURCE_DIR}/tools/check-words ${CMAKE_SOURCE_DIR})
add_test(NAME check/bats COMMAND ${CMAKE_SOURCE_DIR}/tools/check-bats ${CMAKE_SOURCE_DIR})
add_test(NAME check/nan COMMAND ${CMAKE_SOURCE_DIR}/tools/check-nan ${CMAKE_SOURCE_DIR})
add_test(NAME check/python COMMAND ${CMAKE_SOURCE_DIR}/tools/check-python ${CMAKE_SOURCE_DIR})
# After a change of wording: tools/error-texts > tests/golden/errors.txt, and look at the difference.
add_test(NAME check/error-texts COMMAND sh -c "tools/error-texts | diff -u tests/golden/errors.txt -" WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
set_tests_properties(check/headers check/docs check/words check/bats check/nan check/python check/error-texts PROPERTIES LABELS check)

# No test reads or writes the user's cache of measured times: there is none.
get_property(tests DIRECTORY PROPERTY TESTS)
set_property(TEST ${tests} APPEND PROPERTY ENVIRONMENT SOTTO_CACHE_DIR=/dev/null)
