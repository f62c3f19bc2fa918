/* src/core/par: how many threads there are where nobody says it. */
#include "par/default_threads.h"
#include "sotto/private/all.h"
#include "support/test.h"

#include "support/data_files.h"

static char root[64], groups[128];

static int set_up(void **state)
{
    (void)state;
    files_folder(root);
    snprintf(groups, sizeof groups, "%s/self", root);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    files_remove(root);
    return 0;
}

static int quota_of(const char *lines)
{
    files_write_text(root, "self", lines);
    return default_threads_quota(groups, root);
}

TEST(quota_of_version_2, .before = set_up, .after = tear_down)
{
    assert_int_equal(default_threads_quota(groups, root), 0);
    assert_int_equal(quota_of("0::/a/b\n"), 0);
    files_write_text(root, "a/b/cpu.max", "max 100000\n");
    assert_int_equal(quota_of("0::/a/b\n"), 0);
    files_write_text(root, "a/b/cpu.max", "250000 100000\n");
    assert_int_equal(quota_of("0::/a/b\n"), 3); /* rounded up */
    assert_int_equal(quota_of("0::/a\n"), 0);
    assert_int_equal(quota_of("0::/ab\n"), 0);
    files_write_text(root, "a/cpu.max", "50000 100000\n"); /* the group above allows less */
    assert_int_equal(quota_of("0::/a/b\n"), 1);
    files_write_text(root, "cpu.max",
                     "400000 200000\n"); /* of a container, which sees nothing above itself */
    assert_int_equal(quota_of("0::/docker/0123\n"), 2);
    assert_int_equal(quota_of("0::/../elsewhere\n"), 2);
    assert_int_equal(quota_of("0::/\n"), 2);
}

TEST(quota_of_version_1, .before = set_up, .after = tear_down)
{
    files_write_text(root, "cpu/a/cpu.cfs_quota_us", "150000\n");
    assert_int_equal(quota_of("5:cpu,cpuacct:/a\n"), 0); /* without a period */
    files_write_text(root, "cpu/a/cpu.cfs_period_us", "50000\n");
    assert_int_equal(quota_of("5:cpu,cpuacct:/a\n"), 3);
    assert_int_equal(quota_of("7:memory:/b\n5:cpuacct,cpu:/a\n0::/\n"), 3);
    assert_int_equal(quota_of("5:cpuset:/a\n4:cpuacct:/a\n"), 0);
    files_write_text(root, "cpu/a/cpu.cfs_quota_us", "-1\n");
    assert_int_equal(quota_of("5:cpu,cpuacct:/a\n"), 0);
    files_write_text(root, "cpu/cpu.cfs_quota_us", "100000\n");
    files_write_text(root, "cpu/cpu.cfs_period_us", "100000\n");
    assert_int_equal(quota_of("5:cpu,cpuacct:/a\n"), 1);
    assert_int_equal(quota_of("nothing\n:\n5:cpu\n"), 0);
}

static int threads_with(const char *own, const char *openmp)
{
    setenv("SOTTO_NUM_THREADS", own, 1);
    setenv("OMP_NUM_THREADS", openmp, 1);
    const int n = sotto_default_threads(7);
    unsetenv("SOTTO_NUM_THREADS");
    unsetenv("OMP_NUM_THREADS");
    return n;
}

TEST(variables_decide_before_cpus)
{
    assert_int_equal(threads_with("4", "3"), 4);
    assert_int_equal(threads_with("", "3"), 3);
    assert_int_equal(threads_with("", " 3 , 2"), 3);
    assert_int_equal(threads_with("two", "3,2"), 3);
    assert_int_equal(threads_with("2.5", "0"), 7);
    assert_int_equal(threads_with("-1", "4097"), 7);
    assert_int_equal(threads_with("2x,3", "1e3"), 7);
    assert_int_equal(sotto_default_threads(5), 5);
    assert_true(sotto_default_threads(0) >= 1);
}
