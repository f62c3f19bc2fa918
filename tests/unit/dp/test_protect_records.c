/* One release of every record: clipping that is enforced, scales, adjacency, hashes, and what a trainer may say of files
 * that were released. Known answers: the analytic Gaussian mechanism at (1, 1e-5) has scale 3.730631635 times the
 * sensitivity, which is twice the radius; Laplace noise of scale b has pure epsilon 2 R / b. */
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "dp/release/clip_row.h"
#include "io/array/npy.h"
#include "sotto/private/all.h"
#include "support/exercise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 300, D = 40, CLASSES = 3 };
static char folder[64], rows[96], labels[96], out[96], out_labels[96], ledger[96];
static float x[N * D];
static int64_t y[N];

static void save_labels(const char *path, int64_t first)
{
    struct sotto_array a = {0};
    assert_int_equal(sotto_array_make(&a, SOTTO_I8, 1, (const size_t[]){N}), SOTTO_OK);
    for (size_t i = 0; i < N; i++)
        ((int64_t *)a.data)[i] = y[i] = i ? (int64_t)(i % CLASSES) : first;
    assert_int_equal(sotto_npy_save(path, &a), SOTTO_OK);
    sotto_array_clear(&a);
}

static int start(void **state)
{
    (void)state;
    struct sotto_array a = {0};
    strcpy(folder, "/tmp/sotto-test-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(rows, sizeof rows, "%s/x.npy", folder);
    snprintf(labels, sizeof labels, "%s/y.npy", folder);
    snprintf(out, sizeof out, "%s/o.npy", folder);
    snprintf(out_labels, sizeof out_labels, "%s/o.labels.npy", folder);
    snprintf(ledger, sizeof ledger, "%s/l.jsonl", folder);
    for (size_t i = 0; i < N * D; i++)
        x[i] = (float)sin((double)i * 0.7) * (i / D % 2 ? 3.0f : 0.01f);
    x[5 * D + 2] = NAN;
    x[6 * D] = INFINITY;
    x[7 * D] = 3e38f;
    if (sotto_array_make(&a, SOTTO_F4, 2, (const size_t[]){N, D}) != SOTTO_OK)
        return -1;
    memcpy(a.data, x, sizeof x);
    int failed = sotto_npy_save(rows, &a) != SOTTO_OK;
    sotto_array_clear(&a);
    save_labels(labels, 7); /* no class: nothing is said of it */
    return failed;
}

static int stop(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static struct sotto_protect_records ordinary(void)
{
    return (struct sotto_protect_records){
        .input = rows,
        .output = out,
        .clip = 2,
        .target = {1, 1e-5},
        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = ledger}};
}

static void release(struct sotto_certificate **c, const struct sotto_protect_records *p)
{
    sotto_status status = sotto_protect_records(c, p, NULL);
    if (status != SOTTO_OK)
        print_error("%s\n", sotto_error_text());
    assert_int_equal(status, SOTTO_OK);
}

static struct sotto_array load(const char *path)
{
    struct sotto_array a = {0};
    assert_int_equal(npy_load(&a, path), SOTTO_OK);
    return a;
}

static double norm_of(const float *v, enum sotto_norm norm)
{
    double sum = 0;
    for (size_t j = 0; j < D; j++)
        sum += norm == SOTTO_NORM_L1 ? fabs((double)v[j]) : (double)v[j] * (double)v[j];
    return norm == SOTTO_NORM_L1 ? sum : sqrt(sum);
}

TEST(no_row_stays_above_the_radius)
{
    static const double radii[] = {1e-9, 0.003, 1, 1e9};
    size_t clipped = 0, kept = 0;
    for (int norm = SOTTO_NORM_L2; norm <= SOTTO_NORM_L1; norm++)
        for (size_t r = 0; r < sizeof radii / sizeof *radii; r++)
            for (size_t i = 0; i < N; i++) {
                float row[D];
                memcpy(row, x + i * D, sizeof row);
                double before = norm_of(row, (enum sotto_norm)norm);
                clip_row(row, D, radii[r], (enum sotto_norm)norm);
                double after = norm_of(row, (enum sotto_norm)norm);
                assert_true(after <= radii[r]);
                if (!isfinite(before))
                    assert_true(after == 0);
                else if (before <= radii[r])
                    kept += memcmp(row, x + i * D, sizeof row) == 0;
                else
                    clipped += after >= radii[r] * (1 - 2e-6);
            }
    assert_int_equal(clipped + kept, 8 * (N - 2)); /* all but the two rows that are not finite */
    assert_true(clipped > N && kept > N);
}

/* Rows whose norm rounds to the radius and lies above it. */
TEST(a_norm_that_rounds_down_is_clipped)
{
    for (int norm = SOTTO_NORM_L2; norm <= SOTTO_NORM_L1; norm++)
        for (int small = 30; small <= 61; small++) {
            float row[2] = {1, ldexpf(1, norm == SOTTO_NORM_L1 ? -small : -small / 2)};
            const long double second = row[1];
            assert_true(norm == SOTTO_NORM_L1 ? 1 + second > 1 : 1 + second * second > 1);
            clip_row(row, 2, 1, (enum sotto_norm)norm);
            const long double a = row[0], b = row[1];
            assert_true(norm == SOTTO_NORM_L1 ? a + b <= 1 : a * a + b * b <= 1);
        }
}

/* With next to no noise the rows that were clipped are seen. */
TEST(the_clip_is_enforced_in_the_file)
{
    struct sotto_protect_records p = ordinary();
    struct sotto_certificate *c = NULL;
    p.target.epsilon = 0;
    p.scale = 1e-6;
    release(&c, &p);
    struct sotto_array a = load(out);
    assert_int_equal(a.dtype, SOTTO_F4);
    assert_int_equal(a.ndim, 2);
    for (size_t i = 0; i < N; i++) {
        float wanted[D];
        memcpy(wanted, x + i * D, sizeof wanted);
        clip_row(wanted, D, 2, SOTTO_NORM_L2);
        for (size_t j = 0; j < D; j++)
            assert_true(fabs((double)(((float *)a.data)[i * D + j] - wanted[j])) < 1e-5);
    }
    assert_true(sotto_certificate_account(c)->epsilon.upper > 1e6);
    sotto_array_clear(&a);
    sotto_certificate_free(c);
}

TEST(scales_are_those_of_twice_the_radius)
{
    struct sotto_certificate *c = NULL;
    struct sotto_protect_records p = ordinary();
    release(&c, &p);
    const struct sotto_account *a = sotto_certificate_account(c);
    assert_string_equal(a->mechanism, "gaussian");
    assert_true(fabs(a->scale / (4 * 3.730631634816464) - 1) < 2e-6);
    assert_true(a->epsilon.upper <= 1 && a->epsilon.upper > 0.999998);
    sotto_certificate_free(c);
    p.norm = SOTTO_NORM_L1;
    p.target.epsilon = 0;
    p.scale = 4;
    release(&c, &p);
    a = sotto_certificate_account(c);
    assert_string_equal(a->mechanism, "laplace");
    assert_true(a->pure_epsilon >= 1 && a->pure_epsilon < 1 + 1e-4); /* the lattice costs a little */
    sotto_certificate_free(c);
    p.mechanism = "logistic";
    release(&c, &p);
    a = sotto_certificate_account(c);
    assert_true(a->pure_epsilon >= 1 && a->pure_epsilon < 1 + 1e-4);
    sotto_certificate_free(c);
}

/* Of the noise: mean, deviation and the share within one deviation; a law that is 2 % wider is seen. */
TEST(the_noise_has_its_law)
{
    struct sotto_protect_records p = ordinary();
    struct sotto_certificate *c = NULL;
    p.clip = 1e-9; /* next to nothing of the records */
    p.target.epsilon = 0;
    p.scale = 1;
    p.spend.insecure = 1;
    p.spend.insecure_seed = 5;
    double square = 0;
    const double count = 12.0 * N * D;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        p.spend.insecure_seed = seed;
        release(&c, &p);
        sotto_certificate_free(c);
        struct sotto_array a = load(out);
        for (size_t i = 0; i < a.count; i++)
            square += (double)((float *)a.data)[i] * (double)((float *)a.data)[i];
        sotto_array_clear(&a);
    }
    const double error = 4 * sqrt(2 / count); /* four standard errors of the variance: 1.5 % */
    assert_true(fabs(square / count - 1) < error);
    assert_true(fabs(1.02 * 1.02 * square / count - 1) > error);
}

TEST(without_labels_inputs_are_protected)
{
    struct sotto_protect_records p = ordinary();
    struct sotto_certificate *c = NULL;
    struct sotto_released_inputs r;
    release(&c, &p);
    assert_int_equal(sotto_certificate_account(c)->adjacency, SOTTO_REPLACE_INPUT);
    assert_non_null(strstr(sotto_certificate_statement(c), "under replace-input adjacency"));
    assert_int_equal(sotto_released_inputs(&r, out, labels, NULL), SOTTO_OK);
    assert_string_equal(r.text, "features private, labels not");
    assert_string_equal(r.entry, "");
    assert_int_equal(sotto_released_inputs(&r, out, NULL, NULL), SOTTO_OK);
    assert_string_equal(r.entry, sotto_certificate_hash(c));
    assert_int_equal(sotto_released_inputs(&r, rows, labels, NULL), SOTTO_OK);
    assert_true(!r.text[0] && !r.entry[0]);
    sotto_certificate_free(c);
}

static void verify(int expected, const char *failed)
{
    struct sotto_verification v = {0};
    assert_int_equal(sotto_verify(&v, out, NULL, ledger, NULL), expected);
    if (failed)
        assert_non_null(strstr(v.failed, failed));
    sotto_verification_clear(&v);
}

TEST(released_labels_make_whole_records_protected)
{
    struct sotto_protect_records p = ordinary();
    struct sotto_certificate *c = NULL, *read = NULL;
    struct sotto_released_inputs r;
    char path[128];
    p.labels = labels;
    p.labels_output = out_labels; /* as it would be called by itself */
    p.label_epsilon = 0.25;
    p.classes = CLASSES;
    release(&c, &p);
    const struct sotto_account *a = sotto_certificate_account(c);
    assert_int_equal(a->adjacency, SOTTO_REPLACE_ONE);
    assert_true(a->epsilon.upper <= 1 && a->epsilon.upper > 0.999998);
    verify(SOTTO_OK, NULL);
    struct sotto_array drawn = load(out_labels);
    size_t kept = 0;
    for (size_t i = 0; i < N; i++) {
        int64_t label = ((int64_t *)drawn.data)[i];
        assert_in_range(label, 0, CLASSES - 1);
        kept += label == (i ? (int64_t)(i % CLASSES) : 0);
    }
    sotto_array_clear(&drawn);
    assert_in_range(kept, 70, 165); /* 300 e^.25 / (e^.25 + 2) = 117, deviation 8.5 */
    /* a copy of the certificate keeps the hash of the labels */
    snprintf(path, sizeof path, "%s.certificate.json", out);
    assert_int_equal(sotto_certificate_load(&read, path), SOTTO_OK);
    char *one = NULL, *other = NULL;
    assert_int_equal(sotto_certificate_encode(&one, c), SOTTO_OK);
    assert_int_equal(sotto_certificate_encode(&other, read), SOTTO_OK);
    assert_string_equal(one, other);
    assert_non_null(strstr(one, "\"labels_sha256\": \""));
    sotto_text_free(one);
    sotto_text_free(other);
    sotto_certificate_free(read);
    assert_int_equal(sotto_released_inputs(&r, out, out_labels, NULL), SOTTO_OK);
    assert_string_equal(r.entry, sotto_certificate_hash(c));
    assert_non_null(strstr(r.text, "post-processing of one release of every record"));
    assert_non_null(strstr(r.text, "under replace-one adjacency"));
    assert_int_equal(sotto_released_inputs(&r, out, labels, NULL), SOTTO_OK); /* labels in the clear */
    assert_string_equal(r.text, "features private, labels not");
    assert_string_equal(r.entry, "");
    save_labels(out_labels, 2);
    verify(SOTTO_EGATE, "released labels");
    assert_int_equal(unlink(out_labels), 0);
    verify(SOTTO_OK, NULL);
    sotto_certificate_free(c);
}

TEST(a_hash_of_labels_needs_their_release)
{
    struct sotto_protect_records p = ordinary();
    struct sotto_certificate *c = NULL;
    unsigned char *data;
    size_t size;
    char path[128], *text;
    release(&c, &p); /* none are released */
    sotto_certificate_free(c);
    snprintf(path, sizeof path, "%s.certificate.json", out);
    assert_int_equal(file_read(&data, &size, path, 1 << 20), SOTTO_OK);
    text = base_alloc(size + 200, 1);
    assert_non_null(text);
    size_t end = size;
    while (data[end - 1] != '}')
        end--;
    int length =
        snprintf(text, size + 200, "%.*s, \"labels_sha256\": \"%064d\"}", (int)end - 1, (char *)data, 0);
    assert_int_equal(file_write(path, text, (size_t)length), SOTTO_OK);
    verify(SOTTO_EGATE, "label release");
    base_free(text);
    base_free(data);
}

TEST(images_become_numbers_from_0_to_1)
{
    struct sotto_protect_records p = ordinary();
    struct sotto_certificate *c = NULL;
    struct sotto_array a = {0};
    char path[96];
    snprintf(path, sizeof path, "%s/i.npy", folder);
    assert_int_equal(sotto_array_make(&a, SOTTO_U1, 4, (const size_t[]){4, 1, 2, 3}), SOTTO_OK);
    memset(a.data, 51, a.count);
    assert_int_equal(sotto_npy_save(path, &a), SOTTO_OK);
    sotto_array_clear(&a);
    p.input = path;
    p.target.epsilon = 0;
    p.scale = 1e-6;
    release(&c, &p);
    sotto_certificate_free(c);
    a = load(out);
    assert_int_equal(a.ndim, 2);
    assert_int_equal(a.shape[0], 4);
    assert_int_equal(a.shape[1], 6);
    for (size_t i = 0; i < a.count; i++)
        assert_true(fabs((double)((float *)a.data)[i] - 0.2) < 1e-5);
    sotto_array_clear(&a);
}

static void refused(sotto_status expected, const char *text, const struct sotto_protect_records *p)
{
    struct sotto_certificate *c = NULL;
    assert_int_equal(sotto_protect_records(&c, p, NULL), expected);
    if (!strstr(sotto_error_text(), text))
        print_error("%s\n", sotto_error_text());
    assert_non_null(strstr(sotto_error_text(), text));
    assert_null(c);
}

TEST(what_cannot_be_released_is_not_charged)
{
    struct sotto_protect_records p = ordinary();
    char fresh[96];
    snprintf(fresh, sizeof fresh, "%s/none.jsonl", folder);
    p.spend.ledger = fresh;
    p.clip = 0;
    refused(SOTTO_EINVAL, "clip must be at least 1e-09", &p);
    p.clip = 2, p.scale = 1;
    refused(SOTTO_EINVAL, "exactly one of scale and target epsilon", &p);
    p.scale = 0, p.labels = labels;
    refused(SOTTO_EINVAL, "give labels and label epsilon together", &p);
    p.label_epsilon = 0.5;
    refused(SOTTO_EINVAL, "public number of classes", &p);
    p.classes = CLASSES, p.label_epsilon = 1;
    refused(SOTTO_EINVAL, "the labels alone need epsilon 1 of the target 1", &p);
    p.label_epsilon = 0.5, p.labels = rows;
    refused(SOTTO_EINVAL, "expected 300 labels", &p);
    p.labels = labels, p.labels_from = 2;
    refused(SOTTO_EINVAL, "expected the number of the first class, 0 or 1", &p);
    p.labels_from = 0, p.target.epsilon = 0, p.risk.max_advantage = 0.1;
    refused(SOTTO_EINVAL, "labels would be another one", &p);
    p = ordinary();
    p.spend.ledger = fresh;
    p.target.epsilon = -1;
    refused(SOTTO_EINVAL, "epsilon must be > 0 (got -1)", &p);
    p = ordinary();
    p.spend.ledger = fresh;
    p.output = "o.csv";
    refused(SOTTO_EINVAL, "a .npy file to write", &p);
    p.output = "o";
    refused(SOTTO_EINVAL, "a .npy file to write", &p);
    p.output = NULL;
    refused(SOTTO_EINVAL, "a .npy file to write", &p);
    p = ordinary();
    p.spend.ledger = fresh;
    p.input = NULL;
    refused(SOTTO_EINVAL, "give a file of records", &p);
    p.input = labels;
    refused(SOTTO_EINVAL, "expected records (n, ...)", &p);
    p.input = rows, p.output = "/dev/null/o.npy";
    refused(SOTTO_ECREATE, "/dev/null", &p);
    p.output = out, p.mechanism = "laplace";
    refused(SOTTO_ENOTSUP, "clipped by L1", &p);
    assert_false(file_exists(fresh));
}

TEST_GROUP(.set_up = start, .tear_down = stop)
