/* The main job end to end on a small synthetic set: an overfit head leaks, noise takes the leak away and costs accuracy,
 * nothing measured is called proved. The same folder is then run again: everything is reused, nothing is charged twice. */
#include "support/test.h"

#include "base/file.h"
#include "base/sha256.h"
#include "io/json/json.h"
#include "sotto/run.h"
#include "sotto/verify.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char experiment[] =
    "name: story\n"
    "seed: 3\n"
    "data: {set: synthetic-images-n6000, public: 768, private: 250, heldout: 1500}\n"
    "pretrain: {epochs: 2, batch: 128, dtype: f32, backend: dnnl}\n"
    "cases:\n"
    "  - name: overfit\n"
    "    records: 250\n"
    "    head: {hidden: [256], epochs: 200, batch: 25}\n"
    "    sensitivity: {pairs: 2}\n"
    "    protect:\n"
    "      - {mechanism: logistic, scale: 0.001}\n"
    "      - {mechanism: logistic, scale: 3}\n"
    "      - {trainer: dp-sgd, epsilon: 3, delta: 1.0e-5, batch: 50, epochs: 3}\n"
    "attack: {names: [loss]}\n"
    "evaluate: {draws: 20}\n";

static char root[64];

static sotto_status run_experiment(void)
{
    char *done = NULL, folder[128];
    snprintf(folder, sizeof folder, "%s/run", root);
    struct sotto_run_options options = {.folder = folder};
    sotto_status status =
        sotto_run(&done, NULL, experiment, "story.yaml", &options, &(struct sotto_context){.threads = 2});
    sotto_text_free(done);
    return status;
}

/* The tests look at one run of the experiment, in whatever order. */
static int setup(void **state)
{
    (void)state;
    strcpy(root, "/tmp/sotto-story-XXXXXX");
    if (!mkdtemp(root))
        return 1;
    return setenv("XDG_DATA_HOME", root, 1) || run_experiment() != SOTTO_OK;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

static void run_again(void)
{
    if (run_experiment() != SOTTO_OK)
        fail_msg("sotto_run: %s", sotto_error_text());
}

static double number(const struct json *j, const char *path)
{
    const struct json *found = json_find(j, path);
    if (!found)
        fail_msg("report.json has no %s", path);
    return json_number(found);
}

static void hash_of(char hex[SHA256_HEX], const char *folder, const char *name)
{
    char path[512];
    assert_int_equal(path_join(path, sizeof path, folder, name), SOTTO_OK);
    assert_int_equal(sha256_file(hex, path), SOTTO_OK);
}

TEST(the_story_holds)
{
    char folder[128], path[256];
    struct json *report = NULL;
    snprintf(folder, sizeof folder, "%s/run", root);
    assert_int_equal(path_join(path, sizeof path, folder, "report.json"), SOTTO_OK);
    assert_int_equal(json_read_file(&report, path), SOTTO_OK);

    /* (a) leaks: the interval's lower end is above guessing by a margin */
    assert_true(number(report, "rows[0].measured.attacks[0].auc.lower") > 0.55);
    /* (b) next to no noise leaks as much; a lot of noise leaks less and costs accuracy */
    double plain = number(report, "rows[0].measured.attacks[0].auc.estimate");
    double little = number(report, "rows[1].measured_draws.mean"),
           much = number(report, "rows[2].measured_draws.mean");
    assert_true(little > plain - 0.02 && little < plain + 0.02);
    assert_true(much < little - 0.05);
    assert_true(number(report, "rows[2].utility.draws.mean") <
                number(report, "rows[0].utility.accuracy.estimate") - 0.05);
    /* a sampled sensitivity proves nothing, and the implied epsilon is shown however large it is */
    assert_null(json_find(report, "rows[1].proved.epsilon"));
    assert_true(number(report, "rows[1].conditional.epsilon.upper") > 100);
    assert_true(json_kind(json_find(report, "data.synthetic")) == JSON_KIND_BOOLEAN);
    /* noise in every step of a training of its own is proved */
    assert_true(number(report, "rows[3].proved.epsilon.upper") <= 3);
    assert_true(number(report, "rows[3].proved.epsilon.upper") > 2.99);
    assert_null(json_find(report, "rows[3].conditional.epsilon"));
    assert_string_equal(json_text(json_find(report, "rows[3].mechanism")), "dp-sgd");
    json_free(report);
}

TEST(every_certificate_verifies_against_the_ledger)
{
    char folder[128], ledger[256], name[64], file[256];
    snprintf(folder, sizeof folder, "%s/run", root);
    assert_int_equal(path_join(ledger, sizeof ledger, folder, "ledger.jsonl"), SOTTO_OK);
    for (int p = 1; p <= 3; p++) {
        struct sotto_verification v = {0};
        snprintf(name, sizeof name, "protected/overfit-p%d.safetensors", p);
        assert_int_equal(path_join(file, sizeof file, folder, name), SOTTO_OK);
        if (sotto_verify(&v, file, NULL, ledger, NULL) != SOTTO_OK)
            fail_msg("%s: %s", name, sotto_error_text());
        assert_null(v.failed);
        assert_int_equal(v.guarantee == SOTTO_GUARANTEE_PROVED, p == 3);
        sotto_verification_clear(&v);
    }
}

TEST(running_again_reuses_everything)
{
    const char *files[] = {"models/encoder.safetensors", "protected/overfit-p1.safetensors", "run.json",
                           NULL};
    enum { FILES = sizeof files / sizeof *files };
    char folder[128], before[FILES][SHA256_HEX], after[SHA256_HEX];
    snprintf(folder, sizeof folder, "%s/run", root);
    files[FILES - 1] = "ledger.jsonl";
    for (int i = 0; i < FILES; i++)
        hash_of(before[i], folder, files[i]);
    run_again();
    for (int i = 0; i < FILES; i++) {
        hash_of(after, folder, files[i]);
        assert_string_equal(before[i], after);
    }
}

TEST(a_lost_release_is_drawn_again_and_charged_again)
{
    char folder[128], path[256], before[SHA256_HEX], after[SHA256_HEX];
    struct stat small, large;
    snprintf(folder, sizeof folder, "%s/run", root);
    hash_of(before, folder, "protected/overfit-p1.safetensors");
    assert_int_equal(path_join(path, sizeof path, folder, "ledger.jsonl"), SOTTO_OK);
    assert_int_equal(stat(path, &small), 0);
    assert_int_equal(path_join(path, sizeof path, folder, "protected/overfit-p1.safetensors"), SOTTO_OK);
    assert_int_equal(remove(path), 0);
    run_again();
    hash_of(after, folder, "protected/overfit-p1.safetensors");
    assert_string_not_equal(before, after);
    assert_int_equal(path_join(path, sizeof path, folder, "ledger.jsonl"), SOTTO_OK);
    assert_int_equal(stat(path, &large), 0);
    assert_true(large.st_size > small.st_size);
}

TEST_GROUP(.set_up = setup, .tear_down = teardown)
