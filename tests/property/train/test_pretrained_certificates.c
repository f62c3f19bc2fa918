/* Private training from a pre-trained encoder: its certificate says what was trained and what it started from, and an encoder
 * that is not public is refused before anything is charged. */
#include "support/test.h"
#include "support/pretrained_world.h"
#include "base/file.h"
#include "base/memory.h"
#include "dp/certificate/certificate.h"
#include "nn/model/model.h"
#include "sotto/verify.h"

#include <math.h>
#include <unistd.h>

/* ---- certificates ---- */

TEST(a_certificate_says_what_was_trained)
{
    struct sotto_train_options o = options_of("2");
    struct sotto_train_privacy p = privacy_of();
    struct sotto_certificate *c = NULL, *read = NULL;
    struct sotto_verification v = {0};
    p.encoder_by = "the test";
    struct sotto_network *n = train_private(&c, &o, &p);
    char *text = NULL, *again = NULL;
    assert_int_equal(sotto_network_save_private(path_of("m.safetensors"), n, c), SOTTO_OK);
    assert_int_equal(sotto_certificate_encode(&text, c), SOTTO_OK);
    assert_non_null(strstr(text, "encoder.layer3.0.shortcut.weight, encoder.layer3.0.conv1.weight, "
                                 "encoder.layer3.0.conv2.weight, classifier.weight, classifier.bias"));
    assert_non_null(strstr(text, "public, by the test; no record that trained it is among the private ones"));
    assert_non_null(strstr(text, encoder_sha256));
    assert_int_equal(sotto_certificate_decode(&read, text), SOTTO_OK);
    assert_int_equal(sotto_certificate_encode(&again, read), SOTTO_OK);
    assert_string_equal(text, again);
    assert_int_equal(sotto_verify(&v, path_of("m.safetensors"), NULL, path_of("ledger.jsonl"), NULL),
                     SOTTO_OK);
    sotto_verification_clear(&v);
    sotto_text_free(text);
    sotto_text_free(again);
    sotto_certificate_free(c);
    sotto_certificate_free(read);
    sotto_network_free(n);
}

/* The map is public by statement, and its numbers are those of the file. */
TEST(a_certificate_says_what_standardised)
{
    struct sotto_train_options o = options_of("all");
    struct sotto_train_privacy p = privacy_of();
    struct sotto_certificate *c = NULL, *read = NULL;
    struct sotto_verification v = {0};
    char *text = NULL, *again = NULL;
    o.standardise = save_public_embeddings(public_rows);
    struct sotto_network *n = train_private(&c, &o, &p);
    assert_int_equal(sotto_network_save_private(path_of("s.safetensors"), n, c), SOTTO_OK);
    assert_int_equal(sotto_certificate_encode(&text, c), SOTTO_OK);
    assert_non_null(strstr(text, "public, by the caller; no record of its rows is among the private ones"));
    assert_string_equal(c->tuning->standardise_sha256, network_fact(n, "standardise"));
    assert_int_equal(sotto_certificate_decode(&read, text), SOTTO_OK);
    assert_int_equal(sotto_certificate_encode(&again, read), SOTTO_OK);
    assert_string_equal(text, again);
    assert_int_equal(sotto_verify(&v, path_of("s.safetensors"), NULL, path_of("ledger.jsonl"), NULL),
                     SOTTO_OK);
    sotto_verification_clear(&v);
    /* other moments under the certificate's name */
    c->tuning->standardise_sha256[0] ^= 1;
    assert_int_equal(sotto_network_save_private(path_of("s.safetensors"), n, c), SOTTO_OK);
    assert_int_not_equal(sotto_verify(&v, path_of("s.safetensors"), NULL, path_of("ledger.jsonl"), NULL),
                         SOTTO_OK);
    sotto_verification_clear(&v);
    sotto_text_free(text);
    sotto_text_free(again);
    sotto_certificate_free(c);
    sotto_certificate_free(read);
    sotto_network_free(n);
}

/* An encoder that was trained privately on the very same records: its epsilon is added, not forgotten, and not refused. */
TEST(a_certified_encoder_is_added)
{
    enum { RECORDS = 24, IMAGE = 3 * 32 * 32 };
    uint8_t *pixels = base_alloc(RECORDS * IMAGE, 1);
    int64_t classes[RECORDS];
    for (size_t i = 0; i < RECORDS; i++) {
        classes[i] = (int64_t)(i % 2);
        for (size_t k = 0; k < IMAGE; k++)
            pixels[i * IMAGE + k] = (uint8_t)(31 * i + 7 * k);
    }
    struct sotto_dataset colours = {.name = "colours",
                                    .n = RECORDS,
                                    .n_train = RECORDS,
                                    .channels = 3,
                                    .height = 32,
                                    .width = 32,
                                    .images = pixels,
                                    .labels = classes,
                                    .classes = 2};
    memset(colours.sha256, 'b', 64);
    struct sotto_train_options o = options_of(NULL);
    struct sotto_train_privacy p = privacy_of();
    struct sotto_network *n = NULL;
    struct sotto_certificate *c = NULL, *both = NULL;
    o.from = NULL;
    o.model = "resnet8";
    o.norm = "group";
    o.batch = 12;
    p.spend.dataset_id = "colours";
    p.spend.ledger = path_of("colours.jsonl");
    p.classes = 2;
    assert_int_equal(sotto_train_private(&n, &c, NULL, &colours, NULL, 0, &o, &p, &machine.context),
                     SOTTO_OK);
    assert_int_equal(sotto_network_save_private(path_of("certified.safetensors"), n, c), SOTTO_OK);
    sotto_network_free(n);
    o = options_of("all");
    o.from = path_of("certified.safetensors");
    o.batch = 12;
    assert_int_equal(sotto_train_private(&n, &both, NULL, &colours, NULL, 0, &o, &p, &machine.context),
                     SOTTO_OK);
    char expected[96];
    snprintf(expected, sizeof expected, "with this training at most epsilon %.6g at delta 0.002",
             sotto_certificate_account(c)->epsilon.upper + sotto_certificate_account(both)->epsilon.upper);
    if (!strstr(both->tuning->encoder, expected))
        fail_msg("'%s' does not say '%s'", both->tuning->encoder, expected);
    assert_int_equal(sotto_certificate_guarantee(both), SOTTO_GUARANTEE_CONDITIONAL);
    assert_non_null(strstr(sotto_certificate_condition(both), "its own certificate adds epsilon"));
    sotto_network_free(n);
    sotto_certificate_free(both);
    n = NULL, both = NULL;
    p.adjacency = SOTTO_ZERO_OUT; /* the encoder's account has both relations */
    assert_int_equal(sotto_train_private(&n, &both, NULL, &colours, NULL, 0, &o, &p, &machine.context),
                     SOTTO_OK);
    snprintf(expected, sizeof expected, "certified with epsilon %.6g at",
             sotto_certificate_account(c)->other_epsilon.upper);
    assert_non_null(strstr(both->tuning->encoder, expected));
    sotto_network_free(n);
    sotto_certificate_free(both);
    n = NULL, both = NULL;
    p.spend.ledger = path_of("later.jsonl");
    assert_int_equal(unlink(path_of("certified.safetensors.certificate.json")), 0);
    assert_int_equal(sotto_train_private(&n, &both, NULL, &colours, NULL, 0, &o, &p, &machine.context),
                     SOTTO_ENOENT);
    assert_true(!file_exists(path_of("later.jsonl")));
    sotto_certificate_free(c);
    base_free(pixels);
}

/* ---- refusals ---- */

static void refuse(struct sotto_train_options o, struct sotto_train_privacy p, const char *why)
{
    struct sotto_network *n = NULL;
    struct sotto_certificate *c = NULL;
    p.spend.ledger = path_of("never.jsonl");
    assert_int_not_equal(sotto_train_private(&n, &c, NULL, images, rows, N, &o, &p, &machine.context),
                         SOTTO_OK);
    if (!strstr(sotto_error_text(), why))
        fail_msg("'%s' does not say '%s'", sotto_error_text(), why);
    assert_true(n == NULL && c == NULL && !file_exists(p.spend.ledger));
}

TEST(encoders_that_are_not_public_are_refused)
{
    struct sotto_train_options o = options_of("all");
    int64_t one[N];
    o.from = path_of("other.safetensors");
    save_encoder(o.from, STATEMENT_NONE, public_rows);
    refuse(o, privacy_of(), "needs a public encoder");
    memcpy(one, public_rows, sizeof one);
    one[17] = rows[3];
    save_encoder(o.from, NULL, one);
    refuse(o, privacy_of(), "row 6 of 'synthetic-images-n200'");
    save_encoder(o.from, NULL, NULL);
    refuse(o, privacy_of(), "does not say which records trained it");
    struct sotto_train_privacy p = privacy_of();
    struct sotto_certificate *c = NULL;
    p.encoder_by = "its makers";
    sotto_network_free(train_private(&c, &o, &p));
    assert_non_null(strstr(c->tuning->encoder, "its makers; which records trained it is not known"));
    sotto_certificate_free(c);
}

TEST(rows_that_are_not_public_are_refused)
{
    struct sotto_train_options o = options_of("all");
    struct sotto_train_privacy p = privacy_of();
    struct sotto_certificate *c = NULL;
    struct sotto_array x = {0};
    int64_t one[N];
    memcpy(one, public_rows, sizeof one);
    one[17] = rows[3];
    o.standardise = save_public_embeddings(one);
    refuse(o, privacy_of(), "public.npy contains row 6 of 'synthetic-images-n200', which is to be private");
    o.standardise = save_public_embeddings(NULL);
    refuse(o, privacy_of(), "does not say which records its rows are of");
    p.encoder_by = "the city";
    sotto_network_free(train_private(&c, &o, &p));
    assert_string_equal(c->tuning->standardise,
                        "public, by the city; which records its rows are of is not known");
    sotto_certificate_free(c);
    const struct {
        size_t n, width;
        float value;
        const char *why;
    } bad[] = {{N, WIDTH - 1, 1, "expected embeddings by the encoder"},
               {1, WIDTH, 1, "1 public rows; expected at least 2"},
               {N, WIDTH, NAN, "is not finite"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(sotto_array_make(&x, SOTTO_F4, 2, (const size_t[]){bad[i].n, bad[i].width}),
                         SOTTO_OK);
        for (size_t k = 0; k < x.count; k++)
            ((float *)x.data)[k] = bad[i].value;
        assert_int_equal(sotto_npy_save(path_of("public.npy"), &x), SOTTO_OK);
        refuse(o, privacy_of(), bad[i].why);
        sotto_array_clear(&x);
    }
    o.standardise = path_of("none.npy");
    refuse(o, privacy_of(), "none.npy");
}

/* A resnet8 behind the normalisation of its input, as an import makes one; nothing says which records trained it. */
static void save_imported(const char *path)
{
    struct nn_model *m = NULL;
    struct sotto_encoder *e = NULL;
    const struct nn_model_config config = {.name = "resnet8", .input = {3, 32, 32}, .normalised = true};
    assert_int_equal(nn_model_create(&m, &config, 1), SOTTO_OK);
    for (size_t i = 0; i < 3; i++)
        m->parameters[2].value[i] = 0.4f + 0.05f * (float)i, m->parameters[3].value[i] = 0.05f;
    assert_string_equal(m->parameters[2].name, "encoder.input.running_mean");
    assert_int_equal(encoder_wrap(&e, m, "resnet8"), SOTTO_OK);
    assert_int_equal(encoder_add_fact(e, ENCODER_PROVENANCE_KEY, ENCODER_STATED "public, by its makers"),
                     SOTTO_OK);
    assert_int_equal(sotto_encoder_save(path, e), SOTTO_OK);
    assert_int_equal(sotto_provenance_save(path, &(struct sotto_provenance){0}), SOTTO_OK);
    sotto_encoder_free(e);
}

/* The normalisation goes into the network, is never trained, and is in its file; the statement goes into the certificate. */
TEST(an_imported_encoder_is_trained_and_certified)
{
    const char *kept = from;
    static char imported[128], model[128];
    snprintf(imported, sizeof imported, "%s", path_of("imported.safetensors"));
    snprintf(model, sizeof model, "%s", path_of("imported-model.safetensors"));
    save_imported(from = imported);
    struct sotto_train_options o = options_of("none");
    struct sotto_network *n = train(&o), *again = NULL;
    struct sotto_encoder *e = NULL;
    float before[CLASSES], after[CLASSES];
    assert_int_equal(sotto_encoder_load(&e, from), SOTTO_OK);
    for (size_t i = 0; i < 6; i++) { /* four tensors of the input, then the first weights */
        const struct nn_parameter *a = &e->model->parameters[i], *b = &n->model->parameters[i];
        assert_string_equal(a->name, b->name);
        assert_int_equal(memcmp(a->value, b->value, a->count * sizeof(float)) == 0, i < 4);
    }
    assert_int_equal(sotto_network_save(model, n), SOTTO_OK);
    assert_int_equal(sotto_network_load(&again, model), SOTTO_OK);
    assert_int_equal(sotto_network_predict_data(before, n, images, rows, 1, 1, &machine.context), SOTTO_OK);
    assert_int_equal(sotto_network_predict_data(after, again, images, rows, 1, 1, &machine.context),
                     SOTTO_OK);
    assert_memory_equal(before, after, sizeof before);
    sotto_network_free(n);
    sotto_network_free(again);
    sotto_encoder_free(e);
    if (machine.type == NN_F32) {
        struct sotto_train_privacy p = privacy_of();
        struct sotto_certificate *c = NULL;
        struct sotto_verification v = {0};
        o = options_of("norm");
        o.epochs = 1;
        p.spend.ledger = path_of("imported.jsonl");
        n = train_private(&c, &o, &p);
        assert_non_null(
            strstr(c->tuning->encoder, "public, by its makers; which records trained it is not known"));
        assert_int_equal(sotto_network_save_private(model, n, c), SOTTO_OK);
        assert_int_equal(sotto_verify(&v, model, NULL, p.spend.ledger, NULL), SOTTO_OK);
        sotto_verification_clear(&v);
        sotto_certificate_free(c);
        sotto_network_free(n);
    }
    from = kept;
}

TEST(options_that_do_not_go_together_are_refused)
{
    struct sotto_train_options o = options_of("none");
    refuse(o, privacy_of(), "batch norm computes with the mean of the whole batch");
    o = options_of("4");
    refuse(o, privacy_of(), "has 3 blocks");
    o = options_of("some");
    refuse(o, privacy_of(), "freeze 'some' is unknown");
    o = options_of("norm");
    o.from = NULL;
    refuse(o, privacy_of(), "needs a pre-trained encoder");
    o = options_of(NULL);
    o.from = NULL;
    o.warm_up = 1;
    refuse(o, privacy_of(), "warm_up needs a pre-trained encoder");
    o = options_of(NULL);
    o.from = NULL;
    o.standardise = from;
    refuse(o, privacy_of(), "standardise needs a pre-trained encoder");
    o = options_of("norm");
    o.warm_up = 7;
    refuse(o, privacy_of(), "warm_up: 7 steps are more than the 6");
    o = options_of("norm");
    o.warm_up = 1;
    o.weight_decay = 0.1;
    refuse(o, privacy_of(), "weight decay would move it");
    o = options_of("norm");
    o.model = "resnet18";
    refuse(o, privacy_of(), "which is resnet8");
    o = options_of("norm");
    o.residual.members = 2;
    refuse(o, privacy_of(), "cannot be combined with residual perturbation");
    o = options_of("norm");
    o.from = path_of("absent.safetensors");
    refuse(o, privacy_of(), "absent.safetensors");
}

TEST_GROUP(.set_up = set_up, .tear_down = tear_down, .start = machine_f32, .tags = "matrix")
