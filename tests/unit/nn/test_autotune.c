/* What "auto" means: a clock of the test's own makes each candidate the fastest in turn. What is remembered,
 * and what a broken memory costs (time, never an error); which runs are not measured; and that a run goes on
 * with what its checkpoint states. */
#include "support/test.h"

#include "base/file.h"
#include "nn/loop/autotuner.h"
#include "nn/loop/checkpoint.h"
#include "sotto/lab/train.h"
#include "support/temporary_folder.h"
#include "train/plain/supervised.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a clock that says how long a step of each candidate takes ---- */

enum { DIRECT, FILTERED, BF16, FILTERED_BF16, KINDS };
static const struct autotune_candidate kinds[KINDS] = {
    {"dnnl", NN_F32}, {"winograd", NN_F32}, {"dnnl", NN_BF16}, {"winograd", NN_BF16}};

struct fake {
    double step[KINDS], now;
    size_t readings[KINDS];
};

static double fake_seconds(void *state, const struct autotune_candidate *running)
{
    struct fake *f = state;
    for (size_t k = 0; k < KINDS; k++)
        if (strcmp(kinds[k].backend, running->backend) == 0 && kinds[k].dtype == running->dtype) {
            f->now += f->readings[k]++ % 2 ? f->step[k] : 0;
            return f->now;
        }
    fail_msg("the candidate %s %d is not known", running->backend, (int)running->dtype);
    return 0;
}

static bool here(size_t kind)
{
    const struct nn_backend *b;
    return nn_backend_find(&b, kinds[kind].backend) == SOTTO_OK &&
           (kinds[kind].dtype == NN_F32 || nn_backend_supports_bf16(b));
}

static const struct nn_model_config resnet = {.name = "resnet8", .input = {3, 8, 8}, .classes = 4},
                                    mlp = {.name = "mlp",
                                           .input = {8, 1, 1},
                                           .classes = 4,
                                           .hidden = {16},
                                           .hidden_count = 1};

/* A long training of the small network, so that few steps are enough to measure it. */
static struct autotune_request request_of(const struct nn_model_config *model)
{
    return (struct autotune_request){
        .model = model, .batch = 2, .records = 2, .steps = (uint64_t)1 << 40, .threads = 1};
}

static struct sotto_autotune choose(struct autotune_request r, struct fake *f)
{
    const struct autotune_clock clock = {fake_seconds, f};
    struct sotto_autotune found;
    r.clock = &clock;
    if (autotune(&found, &r, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    return found;
}

static size_t readings(const struct fake *f)
{
    size_t sum = 0;
    for (size_t k = 0; k < KINDS; k++)
        sum += f->readings[k];
    return sum;
}

static void expect(const struct sotto_autotune *found, size_t kind, const char *how)
{
    assert_string_equal(found->how, how);
    assert_string_equal(found->backend, kinds[kind].backend);
    assert_int_equal(autotune_dtype(found), kinds[kind].dtype);
    assert_string_equal(nn_backend_name(autotune_backend(found)), kinds[kind].backend);
}

static void forget(void)
{
    char command[160];
    snprintf(command, sizeof command, "rm -rf '%s'", path_of("cache"));
    assert_int_equal(system(command), 0);
    setenv("SOTTO_CACHE_DIR", path_of("cache"), 1);
}

static int set_up(void **state)
{
    (void)state;
    forget();
    return 0;
}

/* ---- the choice ---- */

TEST(each_candidate_is_the_fastest_in_turn)
{
    for (size_t best = 0; best < KINDS; best++) {
        struct fake f = {.step = {1, 1, 1, 1}}, never = {.step = {1, 1, 1, 1}};
        if (!here(best) || !here(DIRECT))
            continue;
        f.step[best] = 0.5;
        forget();
        struct sotto_autotune found = choose(request_of(&resnet), &f);
        if (!here(FILTERED) && !here(BF16)) {
            expect(&found, best, "only");
            continue;
        }
        expect(&found, best, "measured");
        assert_int_equal(f.readings[DIRECT], 6); /* a cold step and two that count, twice read */
        for (size_t k = 0, i = 0; k < KINDS; k++)
            if (here(k))
                assert_true(fabs(found.measured[i++].per_second * f.step[k] - 2) < 1e-9);
        found = choose(request_of(&resnet), &never);
        expect(&found, best, "remembered");
        assert_int_equal(readings(&never), 0);
    }
}

TEST(ten_percent_decide)
{
    if (!here(FILTERED))
        skip();
    struct autotune_request r = request_of(&resnet);
    r.dtype = "f32";
    struct fake enough = {.step = {1.1, 1, 1, 1}}, almost = {.step = {1.0999999, 1, 1, 1}};
    struct sotto_autotune found = choose(r, &enough);
    expect(&found, FILTERED, "measured");
    forget();
    found = choose(r, &almost);
    expect(&found, DIRECT, "measured");
    assert_int_equal(almost.readings[BF16], 0); /* f32 was asked for */
}

TEST(bf16_must_beat_filtering_too)
{
    if (!here(FILTERED) || !here(BF16))
        skip();
    struct fake f = {.step = {1, 2 / 3., 0.5, 0.5}};
    struct sotto_autotune found = choose(request_of(&resnet), &f);
    expect(&found, BF16, "measured");
    char line[SOTTO_AUTOTUNE_LINE];
    sotto_autotune_line(line, &found, "images");
    assert_string_equal(
        line, "bf16 on dnnl (measured, images/s: dnnl f32 2, winograd f32 3, dnnl bf16 4, winograd bf16 4)");
    struct fake close = {.step = {1, 0.5, 0.46, 0.46}};
    forget();
    found = choose(request_of(&resnet), &close);
    expect(&found, FILTERED, "measured");
}

TEST(gradients_of_single_records_stay_in_f32)
{
    if (!here(BF16))
        skip();
    struct nn_model_config group = resnet;
    struct autotune_request r = request_of(&group);
    struct fake f = {.step = {1, 1, 0.1, 0.1}}, whole = f;
    group.norm = "group";
    r.views = 1;
    struct sotto_autotune found = choose(r, &f);
    expect(&found, DIRECT, here(FILTERED) ? "measured" : "only");
    assert_int_equal(f.readings[BF16], 0);
    assert_int_equal(f.readings[FILTERED_BF16], 0);
    r.views = 0; /* what was remembered is of another direction; and the same clock takes bf16 */
    found = choose(r, &whole);
    expect(&found, BF16, "measured");
}

TEST(a_network_without_convolutions_has_no_filtering)
{
    if (!here(DIRECT))
        skip();
    struct autotune_request r = request_of(&mlp);
    struct fake f = {.step = {1, 0.1, 1, 1}};
    struct sotto_autotune found = choose(r, &f);
    expect(&found, DIRECT, here(BF16) ? "measured" : "only");
    assert_int_equal(f.readings[FILTERED], 0);
    assert_int_equal(f.readings[FILTERED_BF16], 0);
    r.dtype = "f32";
    struct fake never = f;
    never.readings[DIRECT] = never.readings[BF16] = 0;
    found = choose(r, &never);
    expect(&found, DIRECT, "only");
    assert_int_equal(readings(&never), 0);
}

TEST(short_runs_are_not_measured)
{
    if (!here(FILTERED))
        skip();
    struct autotune_request few = request_of(&resnet), little = few;
    struct fake f = {.step = {1, 0.1, 0.1, 0.1}};
    few.steps = AUTOTUNE_STEPS - 1, few.batch = 1 << 20;
    little.steps = AUTOTUNE_STEPS;
    struct sotto_autotune found = choose(few, &f);
    expect(&found, DIRECT, "short");
    found = choose(little, &f);
    expect(&found, DIRECT, "short");
    assert_int_equal(readings(&f), 0);
}

TEST(names_are_taken_or_refused)
{
    struct autotune_request r = request_of(&resnet);
    struct sotto_autotune found;
    struct fake f = {.step = {1, 1, 1, 1}};
    r.dtype = "f32", r.backend = "ref";
    found = choose(r, &f);
    assert_string_equal(found.how, "stated");
    assert_string_equal(found.backend, "ref");
    r.dtype = "auto";
    found = choose(r, &f);
    assert_string_equal(found.how, "only");
    assert_string_equal(found.backend, "ref");
    assert_int_equal(readings(&f), 0);
    r.dtype = "f16";
    assert_int_equal(autotune(&found, &r, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "dtype 'f16' is unknown"));
    r.dtype = "bf16";
    assert_int_equal(autotune(&found, &r, NULL), SOTTO_ENOTSUP);
    r.dtype = "auto", r.backend = "fast";
    assert_int_equal(autotune(&found, &r, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "backend 'fast' is unknown"));
}

TEST(a_stop_is_heard_while_measuring)
{
    volatile sig_atomic_t stop = 1;
    const struct sotto_context ctx = {.stop = &stop};
    struct autotune_request r = request_of(&resnet);
    struct sotto_autotune found;
    char path[4096];
    if (!here(FILTERED) && !here(BF16))
        skip();
    assert_int_equal(autotune(&found, &r, &ctx), SOTTO_ESTOPPED);
    assert_int_equal(autotune_path(path, sizeof path, &r), SOTTO_OK);
    assert_false(file_exists(path));
}

/* ---- what is remembered ---- */

/* The file of a request in which the second kind that there is was the fastest. */
static size_t remembered(char path[4096], unsigned char **text, const struct autotune_request *r)
{
    struct fake f = {.step = {1, 0.5, 0.5, 0.5}};
    size_t size;
    choose(*r, &f);
    assert_int_equal(autotune_path(path, 4096, r), SOTTO_OK);
    assert_int_equal(file_read(text, &size, path, 1 << 16), SOTTO_OK);
    return size;
}

static void measured_again(const struct autotune_request *r, const char *what)
{
    struct fake f = {.step = {1, 2, 2, 2}};
    struct sotto_autotune found = choose(*r, &f);
    if (strcmp(found.how, "measured") != 0 || readings(&f) == 0)
        fail_msg("%s was taken for the file of this training", what);
    expect(&found, DIRECT, "measured");
}

/* *text with `from` replaced by `to`, into the file. */
static void put_changed(const char *path, const char *text, const char *from, const char *to)
{
    char changed[8192];
    const char *at = strstr(text, from);
    assert_non_null(at);
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    assert_int_equal(file_write(path, changed, strlen(changed)), SOTTO_OK);
}

TEST(a_broken_file_costs_time_only)
{
    if (!here(FILTERED) && !here(BF16))
        skip();
    struct autotune_request r = request_of(&resnet);
    char path[4096];
    unsigned char *text;
    size_t size = remembered(path, &text, &r);
    static const char *const changes[][2] = {{"sotto.autotune/1", "sotto.autotune/2"},
                                             {"threads=1", "threads=7"},
                                             {"\"dnnl\"", "\"ref\""},
                                             {"\"f32\"", "\"f64\""},
                                             {"\"seconds\": ", "\"seconds\": -"},
                                             {"\"seconds\": ", "\"seconds\": null, \"other\": "},
                                             {"\"measured\"", "\"times\""}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        put_changed(path, (const char *)text, changes[i][0], changes[i][1]);
        measured_again(&r, changes[i][1]);
    }
    for (size_t cut = 0; cut < size; cut += 37) {
        assert_int_equal(file_write(path, text, cut), SOTTO_OK);
        measured_again(&r, "a file that was cut off");
    }
    assert_int_equal(file_write(path, "\0\xff garbage {", 12), SOTTO_OK);
    measured_again(&r, "garbage");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    measured_again(&r, "a folder");
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(file_write(path, text, size), SOTTO_OK); /* control: unchanged, it is taken */
    struct fake never = {.step = {1, 1, 1, 1}};
    struct sotto_autotune found = choose(r, &never);
    assert_string_equal(found.how, "remembered");
    base_free(text);
}

TEST(a_folder_that_cannot_be_written_costs_time_only)
{
    if (!here(FILTERED) && !here(BF16))
        skip();
    struct autotune_request r = request_of(&resnet);
    setenv("SOTTO_CACHE_DIR", "/dev/null", 1);
    measured_again(&r, "/dev/null");
    measured_again(&r, "/dev/null");
    setenv("SOTTO_CACHE_DIR", "/proc/self", 1);
    measured_again(&r, "a folder that nothing can be written to");
    unsetenv("SOTTO_CACHE_DIR");
    const char *home = getenv("HOME"), *cache = getenv("XDG_CACHE_HOME");
    char *kept_home = base_strdup(home ? home : ""), *kept_cache = base_strdup(cache ? cache : "");
    unsetenv("HOME");
    unsetenv("XDG_CACHE_HOME");
    measured_again(&r, "no folder");
    char path[4096];
    setenv("HOME", folder, 1);
    assert_int_equal(autotune_path(path, sizeof path, &r), SOTTO_OK);
    assert_memory_equal(path + strlen(folder), "/.cache/sotto/autotune/", 23);
    setenv("XDG_CACHE_HOME", folder, 1);
    assert_int_equal(autotune_path(path, sizeof path, &r), SOTTO_OK);
    assert_memory_equal(path + strlen(folder), "/sotto/autotune/", 16);
    home ? setenv("HOME", kept_home, 1) : unsetenv("HOME");
    cache ? setenv("XDG_CACHE_HOME", kept_cache, 1) : unsetenv("XDG_CACHE_HOME");
    base_free(kept_home);
    base_free(kept_cache);
}

TEST(several_writers_leave_a_whole_file)
{
    enum { WRITERS = 4, TIMES = 50 };
    if (!here(FILTERED) && !here(BF16))
        skip();
    struct autotune_request r = request_of(&resnet);
    struct autotune_times times = {.candidate = {kinds[DIRECT]}, .count = 1};
    times.candidate[times.count++] = here(FILTERED) ? kinds[FILTERED] : kinds[BF16];
    pid_t child[WRITERS];
    for (size_t w = 0; w < WRITERS; w++) {
        child[w] = fork();
        assert_true(child[w] >= 0);
        if (child[w] == 0) {
            for (size_t i = 0; i < TIMES; i++) {
                struct autotune_times found = times;
                times.seconds[0] = 1, times.seconds[1] = (double)(1 + w);
                autotune_remember(&times, &r);
                if (!autotune_recall(&found, &r) || found.count != 2)
                    _exit(1);
            }
            _exit(0);
        }
    }
    for (size_t w = 0; w < WRITERS; w++) {
        int result;
        assert_int_equal(waitpid(child[w], &result, 0), child[w]);
        assert_int_equal(result, 0);
    }
    assert_true(autotune_recall(&times, &r));
    assert_true(times.seconds[1] >= 1 && times.seconds[1] <= WRITERS);
}

/* ---- a training ---- */

static struct sotto_dataset *images;
static const struct sotto_context one = {.threads = 1};

/* Just long enough to be measured. */
static struct sotto_train_options long_enough(void)
{
    struct sotto_train_options o;
    sotto_train_defaults(&o);
    o.model = "resnet8";
    o.epochs = 10;
    o.batch = 12;
    return o;
}

/* Makes the memory say that one kind is the fastest for this training. */
static void make_fastest(size_t kind, const struct sotto_train_options *o)
{
    struct supervised t;
    struct fake f = {.step = {1, 1, 1, 1}};
    int64_t rows[128];
    f.step[kind] = 0.1;
    for (int64_t i = 0; i < 128; i++)
        rows[i] = i;
    forget();
    assert_int_equal(supervised_resolve(&t, images, rows, images->n, o, &one), SOTTO_OK);
    const struct autotune_request r = {.dtype = o->dtype,
                                       .backend = o->backend,
                                       .model = &t.config,
                                       .batch = t.plan_rows,
                                       .records = t.plan_rows,
                                       .steps = t.steps,
                                       .threads = t.threads};
    struct sotto_autotune found = choose(r, &f);
    expect(&found, kind, "measured");
}

struct stopper {
    volatile sig_atomic_t stop;
    uint64_t after;
};

static void watch(void *user, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
    struct stopper *s = user;
    (void)stage, (void)total, (void)unit;
    s->stop = done >= s->after;
}

static void train(char sha256[65], struct sotto_train_result *result, const struct sotto_train_options *o)
{
    struct sotto_network *n = NULL, *read = NULL;
    if (sotto_train(&n, result, images, NULL, 0, o, &one) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    strcpy(sha256, sotto_network_sha256(n));
    assert_string_equal(sotto_network_recipe(n)->dtype, result->choice.dtype);
    assert_string_equal(sotto_network_recipe(n)->backend, result->choice.backend);
    assert_int_equal(sotto_network_save(path_of("n.safetensors"), n), SOTTO_OK);
    assert_int_equal(sotto_network_load(&read, path_of("n.safetensors")), SOTTO_OK);
    assert_string_equal(sotto_network_recipe(read)->dtype, result->choice.dtype);
    assert_string_equal(sotto_network_recipe(read)->backend, result->choice.backend); /* for shadows */
    sotto_network_free(n);
    sotto_network_free(read);
}

TEST(a_resumed_run_keeps_what_it_began_with)
{
    if (!here(FILTERED))
        skip();
    size_t other = here(BF16) ? BF16 : FILTERED, then = here(BF16) ? FILTERED : DIRECT;
    struct sotto_train_options o = long_enough();
    struct sotto_train_result result;
    struct stopper s = {0, 60};
    struct sotto_context stopping = {.threads = 1, .stop = &s.stop, .progress = watch, .user = &s};
    struct checkpoint_computed by;
    struct sotto_network *none = NULL;
    char whole[65], resumed[65], changed[65];
    o.checkpoint = NULL;
    make_fastest(then, &o);
    train(whole, &result, &o);
    expect(&result.choice, then, "remembered");

    o.checkpoint = path_of("run.checkpoint");
    assert_int_equal(sotto_train(&none, NULL, images, NULL, 0, &o, &stopping), SOTTO_ESTOPPED);
    assert_int_equal(checkpoint_computed_by(&by, o.checkpoint, NULL), SOTTO_OK);
    assert_string_equal(by.backend, kinds[then].backend);
    assert_string_equal(by.dtype, "f32");

    make_fastest(other, &o);
    train(resumed, &result, &o);
    expect(&result.choice, then, "checkpoint");
    assert_string_equal(resumed, whole);

    o.checkpoint = NULL; /* control: without it, the other one is taken, with other bits */
    train(changed, &result, &o);
    expect(&result.choice, other, "remembered");
    assert_string_not_equal(changed, whole);
}

static int open_images(void **state)
{
    return make_folder(state) || sotto_dataset_open(&images, "synthetic-images-n120", NULL) != SOTTO_OK;
}

static int close_images(void **state)
{
    sotto_dataset_free(images);
    return remove_folder(state);
}

TEST_GROUP(.set_up = open_images, .tear_down = close_images, .before = set_up, .tags = "long")
