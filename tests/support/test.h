/* test.h - cmocka, and tests that register themselves: no list of them is written by hand.
 *
 *     TEST(a_sum_is_exact)                          a test; its file is its group (test_sums.c: group sums)
 *     {
 *         assert_int_equal(sum(2, 2), 4);
 *     }
 *     TEST_GROUP(.set_up = make_folder, .tear_down = remove_folder)
 *
 * All files of a module are one program (cmake/tests.cmake) with the main of test_main.c:
 * `test_dp --only ledger`, `test_dp --only ledger.locks`, `test_dp --help`. */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

struct test {
    const char *file, *name;
    int line;
    void (*run)(void **);
    int (*before)(void **), (*after)(void **); /* NULL: those of the group */
};

struct test_group {
    const char *file;
    void (*start)(void);                           /* once, before anything else */
    const char *(*absent)(void);                   /* why the group cannot run here; NULL: it can */
    int (*next)(void);                             /* the group runs once for each 1 before a 0 */
    int (*set_up)(void **), (*tear_down)(void **); /* around all tests of the file */
    int (*before)(void **), (*after)(void **);     /* around each test */
    const char *tags; /* labels of ctest, for cmake/tests.cmake, which reads them from the source */
    int shards; /* ctest runs the group in that many pieces; first in TEST_GROUP(...), for cmake/tests.cmake */
};

/* Pointers to both kinds of rows stand in sections of the program, whose ends the linker knows. */
#define TEST_ROW(section_name) __attribute__((section(section_name), used))

#define TEST(name_, ...)                                                                                     \
    static void name_(void **);                                                                              \
    static const struct test name_##_test = {                                                                \
        .file = __FILE__, .name = #name_, .line = __LINE__, .run = name_, __VA_ARGS__};                      \
    static const struct test *const name_##_row TEST_ROW("sotto_tests") = &name_##_test;                     \
    static void name_(void **cmocka_state __attribute__((unused)))

#define TEST_GROUP(...)                                                                                      \
    static const struct test_group this_group = {.file = __FILE__, __VA_ARGS__};                             \
    static const struct test_group *const this_group_row TEST_ROW("sotto_groups") = &this_group;

#endif
