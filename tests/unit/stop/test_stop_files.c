/* Calls on large files, tables with a schema and noisy inputs are stopped at their questions whether to go
 * on (support/stop_questions.h). */
#include "support/test.h"

#include "base/file.h"
#include "sotto/private/all.h"
#include "support/stop_questions.h"
#include "support/temporary_folder.h"

#include <math.h>

enum { VALUES = 3 << 20, MEGABYTES = 12, IMAGES = 64, ROWS = 5000 };

static struct sotto_dataset *images;
static const struct sotto_source_records exercise = {.public_set = 1};

/* --- a release of a large file, and its verification: a question every few megabytes --- */

static char input[128], output[128], ledger[128];

/* Stopped before the ledger is charged it leaves nothing; afterwards it goes on to its end. */
static sotto_status protect(void)
{
    struct sotto_certificate *certificate = NULL;
    const struct sotto_protect p = {
        .input = input,
        .output = output,
        .release = {
            .mechanism = "gaussian",
            .scale = NAN,
            .target = {1, 1e-5},
            .sensitivity = {.l1 = NAN, .l2 = .5},
            .spend = {.dataset_id = "toy", .source = &exercise, .ledger = ledger, .purpose = "test"}}};
    remove(ledger);
    sotto_status status = sotto_protect_file(&certificate, &p, &context);
    assert_true((status == SOTTO_OK) == (certificate != NULL));
    assert_int_equal(file_exists(ledger), status == SOTTO_OK);
    sotto_certificate_free(certificate);
    return status;
}

static sotto_status verify(void)
{
    struct sotto_verification v = {0};
    sotto_status status = sotto_verify(&v, output, NULL, ledger, &context);
    assert_true(status != SOTTO_OK || !v.failed);
    sotto_verification_clear(&v);
    return status;
}

TEST(large_files_stop)
{
    struct sotto_array a = {0};
    snprintf(input, sizeof input, "%s", path_of("in.npy"));
    snprintf(output, sizeof output, "%s", path_of("out.npy"));
    snprintf(ledger, sizeof ledger, "%s", path_of("large.jsonl"));
    assert_int_equal(sotto_array_make(&a, SOTTO_F4, 1, &(size_t){VALUES}), SOTTO_OK);
    assert_int_equal(sotto_npy_save(input, &a), SOTTO_OK);
    sotto_array_clear(&a);
    STOPS(protect, 2 * MEGABYTES / 4); /* read and hashed */
    assert_int_equal(protect(), SOTTO_OK);
    STOPS(verify, MEGABYTES / 4);
}

/* --- a table with a schema: a question for each block of rows of each pass --- */

static sotto_status import(void)
{
    const struct sotto_import_options o = {.schema = path_of("schema.yaml"), .dataset_id = "t"};
    sotto_status status = sotto_data_import(path_of("table.csv"), "table", &o, &context);
    assert_int_equal(file_exists(path_of("data/table")), status == SOTTO_OK);
    if (status == SOTTO_OK && system("rm -rf \"$SOTTO_DATA_DIR/table\"") != 0)
        return SOTTO_EIO;
    return status;
}

TEST(tables_with_a_schema_stop)
{
    static const char schema[] = "schema: sotto.schema/1\n"
                                 "columns:\n"
                                 "  - {name: size, type: number, bounds: [0, 10]}\n"
                                 "  - {name: colour, type: category, categories: [red, blue]}\n"
                                 "  - {name: class, type: label, classes: ['yes', 'no']}\n";
    assert_int_equal(file_write(path_of("schema.yaml"), schema, sizeof schema - 1), SOTTO_OK);
    FILE *f = fopen(path_of("table.csv"), "w");
    assert_non_null(f);
    fprintf(f, "size,colour,class\n");
    for (int i = 0; i < ROWS; i++)
        fprintf(f, "%d,%s,%s\n", i % 11, i % 3 ? "red" : "blue", i % 2 ? "yes" : "no");
    assert_int_equal(fclose(f), 0);
    STOPS(import, 4);
}

/* --- training on noisy inputs: a question for each layer --- */

static sotto_status noisy_inputs(void)
{
    struct sotto_train_options o;
    struct sotto_train_privacy p;
    struct sotto_network *n = NULL;
    struct sotto_certificate *certificate = NULL;
    sotto_train_defaults(&o);
    sotto_train_privacy_defaults(&p);
    o.model = "resnet8";
    o.epochs = 2;
    o.batch = 32;
    o.dtype = "f32";
    o.backend = "dnnl";
    o.residual =
        (struct sotto_residual_noise){.kind = "additive", .gamma = .5, .input_noise = 3, .radius = 1};
    p.target.delta = 1e-5;
    p.spend.source = &exercise;
    p.spend.ledger = path_of("noisy.jsonl");
    sotto_status status = sotto_train_noisy_inputs(&n, &certificate, NULL, images, NULL, 0, &o, &p, &context);
    assert_true((status == SOTTO_OK) == (n != NULL) && (n != NULL) == (certificate != NULL));
    sotto_network_free(n);
    sotto_certificate_free(certificate);
    return status;
}

TEST(training_on_noisy_inputs_stops)
{
    STOPS(noisy_inputs, 2 * (IMAGES / 32) * 2 * 8);
}

static int set_up(void **state)
{
    char set[64];
    snprintf(set, sizeof set, "synthetic-images-n%d", IMAGES);
    return make_folder(state) || setenv("SOTTO_DATA_DIR", path_of("data"), 1) ||
           sotto_dataset_open(&images, set, NULL) != SOTTO_OK;
}
static int tear_down(void **state)
{
    sotto_dataset_free(images);
    return remove_folder(state);
}

TEST_GROUP(.set_up = set_up, .tear_down = tear_down)
