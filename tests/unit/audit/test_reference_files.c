/* src/measure/audit: references that stay in files give the audit of the same numbers in memory, bit for bit, whatever the numbers'
 * type; files of another shape, with bad values, or cut while they are read are refused by name. */
#include "support/test.h"
#include "support/audit_world.h"
#include "io/array/npy_rows.h"

#include <math.h>
#include <unistd.h>

enum { SIGNALS_OF_MEMBERS, SIGNALS_OF_OTHERS, MASK_OF_MEMBERS, MASK_OF_OTHERS, FILES };
static char folder[] = "/tmp/sotto-references-XXXXXX", paths[FILES][80];

static int make_folder(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < FILES; i++)
        snprintf(paths[i], sizeof paths[i], "%s/%d.npy", folder, i);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    for (int i = 0; i < FILES; i++)
        unlink(paths[i]);
    return rmdir(folder);
}

static void save(const char *path, enum sotto_dtype dtype, size_t rows, const double *x)
{
    struct sotto_array a = {0};
    assert_int_equal(sotto_array_make(&a, SOTTO_F8, 2, (size_t[]){rows, MODELS}), SOTTO_OK);
    memcpy(a.data, x, rows * MODELS * sizeof *x);
    assert_int_equal(sotto_array_convert(&a, dtype), SOTTO_OK);
    assert_int_equal(sotto_npy_save(path, &a), SOTTO_OK);
    sotto_array_clear(&a);
}

/* The world's references go to files; in memory, they are rounded as there. */
static struct sotto_audit_input saved_records(struct world *w, size_t n, enum sotto_dtype signals,
                                              enum sotto_dtype masks)
{
    struct sotto_audit_input in = world_make(w, 1, 3);
    in.n_member = in.n_nonmember = n;
    for (int side = 0; side < 2; side++) {
        double mask[RECORDS * MODELS];
        for (size_t i = 0; i < (size_t)RECORDS * MODELS; i++) {
            if (signals == SOTTO_F4)
                w->reference[side][i] = (float)w->reference[side][i];
            mask[i] = w->trained[side][i];
        }
        save(paths[SIGNALS_OF_MEMBERS + side], signals, n, w->reference[side]);
        save(paths[MASK_OF_MEMBERS + side], masks, n, mask);
    }
    return in;
}

static struct sotto_audit_input saved_world(struct world *w, enum sotto_dtype signals, enum sotto_dtype masks)
{
    return saved_records(w, RECORDS, signals, masks);
}

static struct sotto_audit_input from_files(const struct sotto_audit_input *in, struct sotto_rows *rows[FILES])
{
    struct sotto_audit_input out = *in;
    for (int i = 0; i < FILES; i++) {
        assert_int_equal(sotto_rows_open(&rows[i], paths[i]), SOTTO_OK);
        assert_non_null(rows[i]);
    }
    out.member_reference = out.nonmember_reference = NULL;
    out.member_trained = out.nonmember_trained = NULL;
    out.member_reference_rows = rows[SIGNALS_OF_MEMBERS];
    out.nonmember_reference_rows = rows[SIGNALS_OF_OTHERS];
    out.member_trained_rows = rows[MASK_OF_MEMBERS];
    out.nonmember_trained_rows = rows[MASK_OF_OTHERS];
    return out;
}

static void close_all(struct sotto_rows *rows[FILES])
{
    for (int i = 0; i < FILES; i++)
        sotto_rows_close(rows[i]);
}

TEST(files_give_the_audit_of_memory)
{
    static const enum sotto_dtype signals[] = {SOTTO_F8, SOTTO_F4, SOTTO_F8},
                                  masks[] = {SOTTO_U1, SOTTO_B1, SOTTO_B1};
    static struct world w;
    for (size_t k = 0; k < 3; k++)
        for (int losses = 0; losses < 2; losses++) {
            struct sotto_rows *rows[FILES];
            char *expected = NULL, *found = NULL;
            struct sotto_audit_input in = saved_world(&w, signals[k], masks[k]);
            struct sotto_context two = {.threads = 2};
            in.reference_losses = losses;
            for (size_t i = 0; losses && i < (size_t)RECORDS * MODELS; i++) /* losses are positive */
                for (int side = 0; side < 2; side++)
                    w.reference[side][i] = fabs(w.reference[side][i]) + 0.125;
            for (int side = 0; losses && side < 2; side++)
                save(paths[SIGNALS_OF_MEMBERS + side], SOTTO_F8, RECORDS, w.reference[side]);
            struct sotto_audit_input streamed = from_files(&in, rows);
            assert_int_equal(audit_text(&expected, &in, NULL, NULL), SOTTO_OK);
            assert_int_equal(audit_text(&found, &streamed, NULL, &two), SOTTO_OK);
            assert_string_equal(found, expected);
            assert_non_null(strstr(found, "between_models"));
            sotto_text_free(expected);
            sotto_text_free(found);
            close_all(rows);
        }
}

static void expect_of_file(sotto_status status, const struct sotto_audit_input *in, int file,
                           const char *text)
{
    char line[256];
    snprintf(line, sizeof line, "%s%s", paths[file], text);
    expect(status, in, NULL, line);
}

TEST(bad_files_are_refused)
{
    static struct world w;
    static double ones[RECORDS * MODELS];
    struct sotto_rows *rows[FILES];
    struct sotto_audit_input in = saved_world(&w, SOTTO_F8, SOTTO_U1);
    save(paths[SIGNALS_OF_OTHERS], SOTTO_F8, RECORDS - 1, w.reference[1]);
    struct sotto_audit_input streamed = from_files(&in, rows);
    expect_of_file(SOTTO_EINVAL, &streamed, SIGNALS_OF_OTHERS,
                   " is (399, 16); expected (400, 16): records by reference models");
    close_all(rows);
    w.reference[1][70 * MODELS + 3] = NAN;
    save(paths[SIGNALS_OF_OTHERS], SOTTO_F8, RECORDS, w.reference[1]);
    streamed = from_files(&in, rows);
    expect_of_file(SOTTO_EINVAL, &streamed, SIGNALS_OF_OTHERS,
                   ": row 70, column 3 is NaN; reference signals must be finite");
    close_all(rows);
    in = saved_world(&w, SOTTO_F8, SOTTO_U1);
    ones[5 * MODELS + 1] = 2;
    save(paths[MASK_OF_MEMBERS], SOTTO_U1, RECORDS, ones);
    streamed = from_files(&in, rows);
    expect_of_file(SOTTO_EINVAL, &streamed, MASK_OF_MEMBERS,
                   ": row 5, column 1 is 2; a training mask holds 0 and 1");
    streamed.member_reference = w.reference[0];
    streamed.nonmember_reference = w.reference[1];
    expect(SOTTO_EUSAGE, &streamed, NULL,
           "audit: references in files stand alone: no views, no others in memory");
    close_all(rows);
}

TEST(a_file_that_is_cut_is_noticed)
{
    static struct world w;
    struct sotto_rows *rows[FILES], *none;
    struct sotto_audit_input in = saved_world(&w, SOTTO_F4, SOTTO_U1), streamed = from_files(&in, rows);
    assert_int_equal(truncate(paths[SIGNALS_OF_OTHERS], 128 + 4 * 16 * 399), 0);
    expect_of_file(SOTTO_EIO, &streamed, SIGNALS_OF_OTHERS, ": became shorter while it was read");
    close_all(rows);
    assert_int_equal(sotto_rows_open(&none, paths[SIGNALS_OF_OTHERS]), SOTTO_OK); /* the loader says it */
    assert_null(none);
    assert_int_equal(sotto_rows_open(&none, "/dev/null/x.npy"), SOTTO_OK);
    assert_null(none);
}

TEST(rows_are_read_where_asked)
{
    static struct world w;
    struct sotto_rows *rows;
    double x[3 * MODELS];
    saved_world(&w, SOTTO_F4, SOTTO_U1);
    assert_int_equal(sotto_rows_open(&rows, paths[0]), SOTTO_OK);
    assert_string_equal(npy_rows_name(rows), paths[0]);
    assert_int_equal(npy_rows_read(x, rows, 397, 3), SOTTO_OK);
    assert_memory_equal(x, w.reference[0] + 397 * MODELS, sizeof x);
    assert_int_equal(npy_rows_read(x, rows, 398, 3), SOTTO_EINVAL);
    sotto_rows_close(rows);
}

TEST(allocation_failures_are_clean)
{
    static struct world w;
    struct sotto_rows *rows[FILES], *one;
    struct sotto_audit_input in = saved_records(&w, 100, SOTTO_F4, SOTTO_U1),
                             streamed = from_files(&in, rows);
    struct sotto_context one_thread = {.threads = 1};
    const char *names[] = {"rmia", NULL};
    struct sotto_audit_options options = {.names = names, .draws = 100};
    sotto_status status = SOTTO_ENOMEM;
    for (long n = 0; status != SOTTO_OK; n++) {
        char *json = NULL;
        base_alloc_fail_after(n);
        status = audit_text(&json, &streamed, &options, &one_thread);
        base_alloc_fail_after(-1);
        assert_true(n < 20000 && (status == SOTTO_OK || status == SOTTO_ENOMEM));
        sotto_text_free(json);
    }
    for (long n = 0; n < 2; n++) {
        base_alloc_fail_after(n);
        status = sotto_rows_open(&one, paths[0]);
        base_alloc_fail_after(-1);
        assert_int_equal(status, SOTTO_ENOMEM);
        assert_null(one);
    }
    close_all(rows);
}

TEST_GROUP(.set_up = make_folder, .tear_down = remove_folder)
