/* Every numeric option of account and protect, and the counts of predict and embed, with every invalid value: EUSAGE (not a
 * number) or EINVAL (no value that it can have), one line of text without a hint, nothing on stdout and stderr, no file.
 * tests/cli/bad_values.bats has a sample of each verb through the program, where these are exit codes 64 and 65. */
#include "support/test.h"

#include "options/options_private.h"
#include "support/temporary_folder.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROW(name) extern const struct verb verb_##name;
#include "verbs/verb_list.h"
#undef ROW

enum { WORDS = 16 };
/* A command that is accepted; words[] ends in NULL. */
struct command {
    const struct verb *verb;
    const char *words[WORDS];
};
static const struct command release = {&verb_account,
                                       {"--mechanism=discrete-laplace", "--scale=4", "--l1=1", "--l2=1",
                                        "--dimension=2", "--value-step=1", "--delta=1e-5", "--compose=2"}};
static const struct command training = {
    &verb_account,
    {"--mechanism=gaussian", "--noise-multiplier=1", "--sample-rate=0.1", "--steps=3", "--delta=1e-5"}};
static const struct command choice = {&verb_account,
                                      {"--choose", "--epsilon=1", "--delta=1e-5", "--l1=1", "--l2=1",
                                       "--compose=2", "--dimension=2", "--value-step=1"}};
static const struct command saving = {&verb_protect,
                                      {"--vector=v.npy", "--mechanism=discrete-laplace", "--dataset-id=toy",
                                       "--output=out.npy", "--scale=4", "--l1=1", "--l2=1", "--value-step=1",
                                       "--delta=1e-5", "--records=10", "--budget-epsilon=9",
                                       "--budget-delta=1e-5"}};
static const struct command labels = {&verb_protect,
                                      {"--vector=v.npy", "--mechanism=randomised-response",
                                       "--dataset-id=toy", "--output=out.npy", "--epsilon=1", "--l1=1"}};
static const struct command answers = {&verb_predict,
                                       {"--model=none.safetensors", "--features=v.npy", "--output=out.npy"}};
static const struct command embedding = {&verb_embed,
                                         {"--encoder=scattering", "--data=none", "--output=out.npy"}};

static const char *const not_numbers[] = {"nan", "-nan", "abc", "", "1x", "1,5", "1 2", NULL};
static const char *const not_counts[] = {
    "-1", "-0", "1.5", "1e3", "0x10", "nan", "inf", "abc", "", "+1", "99999999999999999999", NULL};
static const char *const not_positive[] = {"-1",      "-0",     "0",     "inf",   "-inf",   "1e-320",
                                           "-1e-320", "5e-324", "1e300", "1e400", "-1e300", NULL};

static int here = -1, out = -1, outputs[2] = {-1, -1};

/* Works in the folder, with v.npy; what is printed goes to a file of it. */
static int enter(void **state)
{
    static const char header[] = "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }";
    static const int64_t ones[] = {1, 1};
    char data[128], file[160];
    if (make_folder(state) != 0)
        return -1;
    snprintf(data, sizeof data, "%s/data", folder);
    here = open(".", O_RDONLY | O_DIRECTORY);
    if (here < 0 || chdir(folder) != 0 || setenv("XDG_DATA_HOME", data, 1) != 0)
        return -1;
    memcpy(file, "\x93NUMPY\x01\x00\x76\x00", 10);
    snprintf(file + 10, sizeof file - 10, "%-117s\n", header);
    memcpy(file + 128, ones, sizeof ones);
    return overwrite("v.npy", file, 128 + sizeof ones);
}

static int leave_folder(void **state)
{
    return here >= 0 && fchdir(here) == 0 && close(here) == 0 ? remove_folder(state) : -1;
}

static void quiet(bool on)
{
    if (on) {
        fflush(NULL);
        out = open("said", O_RDWR | O_CREAT | O_TRUNC, 0600);
        for (int i = 0; i < 2; i++) {
            outputs[i] = dup(1 + i);
            dup2(out, 1 + i);
        }
        return;
    }
    fflush(NULL);
    for (int i = 0; i < 2; i++) {
        dup2(outputs[i], 1 + i);
        close(outputs[i]);
    }
    close(out);
}

static off_t said(void)
{
    struct stat about;
    fflush(NULL);
    return fstat(out, &about) == 0 ? about.st_size : -1;
}

/* "--option=value" instead of the command's own; option NULL: as it is. `less`: also without that option. */
static sotto_status run(const struct command *c, const char *option, const char *value, const char *less)
{
    static struct options o;
    char given[128], words[WORDS][128], *argv[WORDS + 1];
    const struct sotto_context ctx = {.threads = 1};
    int argc = 0;
    for (size_t i = 0; c->words[i]; i++) {
        const char *name = c->words[i] + 2, *const drop[] = {option, less};
        bool kept = true;
        for (int d = 0; d < 2; d++)
            kept = kept &&
                   !(drop[d] && strncmp(name, drop[d], strlen(drop[d])) == 0 && name[strlen(drop[d])] == '=');
        if (kept) {
            snprintf(words[argc], sizeof words[argc], "%s", c->words[i]);
            argv[argc] = words[argc];
            argc++;
        }
    }
    snprintf(given, sizeof given, "--%s=%s", option ? option : "", value);
    if (option)
        argv[argc++] = given;
    sotto_status status = options_parse(&o, c->verb, argc, argv);
    if (status == SOTTO_OK) {
        cli_set_context(&ctx);
        status = c->verb->run(&o, &ctx, 0);
        cli_set_context(NULL);
    }
    options_clear(&o);
    return status;
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static void verdict(sotto_status expected, const struct command *c, const char *option, const char *value,
                    const char *less)
{
    quiet(true);
    const sotto_status status = run(c, option, value, less);
    const off_t bytes = said();
    quiet(false);
    const char *text = cli_error_text();
    if (status != expected || bytes != 0 || !text[0] || strchr(text, '\n') || cli_error_hint()[0] ||
        exists("out.npy") || exists("out.npy.certificate.json") || exists("data"))
        fail_msg("sotto %s --%s=%s: status %d, expected %d; %d bytes were printed; %s", c->verb->name, option,
                 value, (int)status, (int)expected, (int)bytes, text);
}

static void each(sotto_status expected, const struct command *c, const char *option,
                 const char *const *values, const char *less)
{
    for (; *values; values++)
        verdict(expected, c, option, *values, less);
}

static void refused_count(const struct command *c, const char *option)
{
    each(SOTTO_EUSAGE, c, option, not_counts, NULL);
}

static bool may_be_zero(const char *option)
{
    return strcmp(option, "delta") == 0 || strcmp(option, "budget-delta") == 0 ||
           strcmp(option, "value-step") == 0;
}

static void refused_real(const struct command *c, const char *option, const char *less)
{
    each(SOTTO_EUSAGE, c, option, not_numbers, less);
    for (const char *const *v = not_positive; *v; v++)
        if (!may_be_zero(option) || (strcmp(*v, "0") != 0 && strcmp(*v, "-0") != 0))
            verdict(SOTTO_EINVAL, c, option, *v, less);
}

/* The commands themselves are accepted: what is refused is refused for its value. */
TEST(the_unchanged_commands_are_accepted)
{
    const struct command *const whole[] = {&release, &training, &choice, &saving};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        quiet(true);
        const sotto_status status = run(whole[i], NULL, "", NULL);
        quiet(false);
        assert_int_equal(status, SOTTO_OK);
    }
    assert_true(exists("out.npy"));
}

TEST(account_of_a_release)
{
    static const char *const reals[] = {"scale", "l1", "l2", "value-step", "delta"};
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        refused_real(&release, reals[i], NULL);
    refused_count(&release, "dimension");
    refused_count(&release, "compose");
    verdict(SOTTO_EINVAL, &release, "compose", "0", NULL);
    verdict(SOTTO_EINVAL, &release, "delta", "1", NULL);
    verdict(SOTTO_EINVAL, &release, "value-step", "3", NULL);
    refused_real(&release, "epsilon", "scale");
}

TEST(account_of_training)
{
    static const char *const deltas[] = {"-1", "0", "-0", "1", "inf", "1e-320", "1e300", NULL};
    refused_real(&training, "noise-multiplier", NULL);
    refused_real(&training, "sample-rate", NULL);
    refused_count(&training, "steps");
    each(SOTTO_EINVAL, &training, "delta", deltas, NULL); /* sampled: no pure epsilon */
    verdict(SOTTO_EINVAL, &training, "steps", "0", NULL);
    verdict(SOTTO_EINVAL, &training, "steps", "9999999999999999999", NULL);
    verdict(SOTTO_EINVAL, &training, "sample-rate", "1.5", NULL);
    refused_real(&training, "epsilon", "noise-multiplier");
}

TEST(account_the_chooser)
{
    static const char *const reals[] = {"epsilon", "l1", "l2", "value-step", "delta"};
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        refused_real(&choice, reals[i], NULL);
    refused_count(&choice, "compose");
    refused_count(&choice, "dimension");
}

TEST(protect)
{
    static const char *const reals[] = {"scale",          "l1",          "l2", "value-step", "delta",
                                        "budget-epsilon", "budget-delta"};
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        refused_real(&saving, reals[i], NULL);
    refused_count(&saving, "records");
    refused_real(&saving, "epsilon", "scale");
    refused_count(&saving, "insecure-noise-seed");
    refused_count(&labels, "classes");
    verdict(SOTTO_EINVAL, &labels, "classes", "0", NULL);
    verdict(SOTTO_EINVAL, &labels, "classes", "1", NULL);
}

TEST(predict_and_embed)
{
    static const char *const averages[] = {"mean", "", "logit", "logits|softmax", NULL};
    refused_count(&answers, "repeats");
    refused_count(&answers, "seed");
    verdict(SOTTO_EUSAGE, &answers, "repeats", "0", NULL);
    each(SOTTO_EUSAGE, &answers, "average", averages, NULL);
    refused_count(&embedding, "groups");
    refused_count(&embedding, "grid");
}

TEST_GROUP(.before = enter, .after = leave_folder)
