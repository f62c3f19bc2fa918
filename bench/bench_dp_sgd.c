/* DP-SGD against plain SGD of the same network, step by step in turns: forward, backward, (clip, noise,)
 * update.
 * usage: bench_dp_sgd [--model head|linear|mlp|resnet8|keras] [--batch N] [--noise none|exact]
 *                     [--threads N] [--steps 21] [--clip flat|automatic|layers] [--side both|plain|private]
 *                     [--backend auto|winograd|dnnl|ref]
 *
 *   linear   128 to 10
 *   mlp      600, 256, 100
 *   resnet8  group norm, 32x32
 *   keras    keras-simclr and a linear head, 32x32
 *   head     128 to 10 by the head trainer, one thread, Poisson samples of 10,000 records
 *
 * One JSON line: medians over the steps; the noise is that of a real reservation in a ledger of its own.
 * --side: one of the two alone, so that the peak of memory is its own; before_mib: the peak before the first
 * step. */
#include "base/cpu.h"
#include "nn/loop/example_sums.h"
#include "nn/plan/plan.h"
#include "par/par.h"
#include "rng/rng.h"
#include "sotto/head.h"
#include "sotto/lab/head.h"
#include "sotto/lab/release.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WARM_UP = 3, STEPS_MAX = 2000 };

struct settings {
    const char *model, *noise, *clip, *side, *backend;
    size_t batch, steps;
    int threads;
};

/* Measured on no one's data: its ledger may lie anywhere. */
static const struct sotto_source_records exercise = {.public_set = 1};

static int has_plain(const struct settings *s)
{
    return strcmp(s->side, "private") != 0;
}
static int has_private(const struct settings *s)
{
    return strcmp(s->side, "plain") != 0;
}

/* Memory of this process: its peak since the last forget_peak(). What the account of a reservation takes for
 * a moment is forgotten before the first step, and told beside. */
static double peak_mib(void)
{
    double kib = 0;
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %lf kB", &kib) == 1)
            break;
    if (status)
        fclose(status);
    return kib / 1024;
}
static double forget_peak(void)
{
    double before = peak_mib();
    FILE *refs = fopen("/proc/self/clear_refs", "w");
    if (refs) {
        fputs("5", refs); /* Linux: the peak is now what is used */
        fclose(refs);
    }
    return before;
}

static const struct {
    const char *name;
    size_t batch;
    struct nn_model_config config;
} models[] = {
    {"linear", 256, {.name = "mlp", .input = {128, 1, 1}, .classes = 10}},
    {"mlp", 256, {.name = "mlp", .input = {600, 1, 1}, .classes = 100, .hidden = {256}, .hidden_count = 1}},
    {"resnet8", 128, {.name = "resnet8", .input = {3, 32, 32}, .classes = 10, .norm = "group"}},
    {"keras", 256, {.name = "keras-simclr", .input = {3, 32, 32}, .classes = 10}},
};
enum { MODELS = sizeof models / sizeof *models };

static void must(sotto_status status)
{
    if (status != SOTTO_OK) {
        fprintf(stderr, "bench_dp_sgd: %s\n", sotto_error_text());
        exit(1);
    }
}

static struct settings parse(int argc, char **argv)
{
    struct settings s = {"resnet8", "exact", "flat", "both", "auto", 0, 21, cpu_count()};
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *value = argv[i + 1];
        if (strcmp(argv[i], "--model") == 0)
            s.model = value;
        else if (strcmp(argv[i], "--noise") == 0)
            s.noise = value;
        else if (strcmp(argv[i], "--clip") == 0)
            s.clip = value;
        else if (strcmp(argv[i], "--side") == 0)
            s.side = value;
        else if (strcmp(argv[i], "--backend") == 0)
            s.backend = value;
        else if (strcmp(argv[i], "--batch") == 0)
            s.batch = strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--steps") == 0)
            s.steps = strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--threads") == 0)
            s.threads = atoi(value);
        else {
            fprintf(stderr, "bench_dp_sgd: unknown option %s\n", argv[i]);
            exit(64);
        }
    }
    s.steps = s.steps < 1 ? 1 : s.steps > STEPS_MAX ? STEPS_MAX : s.steps;
    return s;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double cpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, size_t n)
{
    qsort(x, n, sizeof *x, compare);
    return x[n / 2];
}

struct side {
    struct nn_model *model;
    struct nn_plan *plan;      /* plain */
    struct example_sums *sums; /* private */
    struct nn_optimizer *optimizer;
    double wall[STEPS_MAX], cpu[STEPS_MAX], part[2][STEPS_MAX];
};

static const struct nn_backend *backend(const struct settings *s)
{
    const struct nn_backend *found;
    must(nn_backend_find(&found, s->backend));
    return found;
}

static void open_side(struct side *d, const struct nn_model_config *config)
{
    must(nn_model_create(&d->model, config, 1));
    must(nn_optimizer_create(&d->optimizer, d->model, &(struct nn_optimizer_config){.name = "sgd"}));
}

struct bench {
    struct settings settings;
    size_t batch, classes, parameters;
    int64_t *labels;
    uint32_t *slot;
    double *sum;
    struct sotto_dpsgd_session *reserved;
    struct nn_clip clip;
    struct side plain, private;
    double open; /* CPU seconds, for the private plans and their check */
};

static void plain_step(struct bench *b, size_t step)
{
    struct nn_plan *p = b->plain.plan;
    nn_plan_forward(p, 1, 1, step);
    loss_softmax_cross_entropy(nn_plan_diff_output(p), nn_plan_output(p), b->labels, b->batch, b->classes);
    nn_plan_backward(p);
    nn_optimizer_step(b->plain.optimizer, b->plain.model, 1e-3);
}

enum { SLOTS = 50 }; /* records for each in a batch: a sample of 2 % */

/* As the plain step's: values lie there already. */
static void fill_part(float *input, int64_t *labels, void *state, size_t first, size_t count, uint64_t step)
{
    (void)input, (void)step;
    const struct bench *b = state;
    memcpy(labels, b->labels + first, count * sizeof *labels);
}

static void open_sums(struct bench *b)
{
    const struct example_sums_config config = {.backend = backend(&b->settings),
                                               .views = 1,
                                               .slots = SLOTS * b->batch,
                                               .rate = 1.0 / SLOTS,
                                               .threads = b->settings.threads,
                                               .fill = fill_part,
                                               .state = b};
    const double start = cpu_now();
    must(example_sums_create(&b->private.sums, b->private.model, &config));
    b->open = cpu_now() - start;
}

/* `batch` of the record numbers, rising. */
static void draw_sample(struct bench *b, size_t step)
{
    struct rng random = rng_stream(1, RNG_TEST, 1, step);
    for (size_t i = 0; i < b->batch; i++)
        b->slot[i] = (uint32_t)(i * SLOTS + rng_below(&random, SLOTS));
}

static void private_step(struct bench *b, size_t step, double *parts[2], size_t at)
{
    struct example_counts counts;
    draw_sample(b, step);
    double start = now(), next;
    must(example_sums_take(b->sum, &counts, b->private.sums, b->slot, b->batch, &b->clip, step));
    next = now(), parts[0][at] = next - start, start = next;
    if (b->reserved)
        must(sotto_dp_step_lattice(b->reserved, b->sum));
    nn_model_set_gradient(b->private.model, b->sum, 1 / (double)b->batch, b->settings.threads);
    nn_optimizer_step(b->private.optimizer, b->private.model, 1e-3);
    parts[1][at] = now() - start;
}

static void reserve(struct bench *b, const char *ledger)
{
    b->clip.bound = 0x1p31;
    if (strcmp(b->settings.noise, "none") == 0)
        return;
    const struct sotto_dpsgd_request request = {.sampled = {.mechanism = "gaussian",
                                                            .noise_multiplier = 1.1,
                                                            .sample_rate = 1,
                                                            .steps = b->settings.steps + WARM_UP,
                                                            .delta = 1e-5,
                                                            .adjacency = SOTTO_ZERO_OUT},
                                                .max_grad_norm = b->clip.norm,
                                                .dimension = b->parameters,
                                                .spend.dataset_id = "benchmark",
                                                .spend.source = &exercise,
                                                .spend.ledger = ledger,
                                                .on_lattice = 1,
                                                .records = SLOTS * b->batch,
                                                .spend.purpose = "benchmark"};
    const struct sotto_context ctx = {.threads = b->settings.threads};
    must(sotto_dp_reserve(&b->reserved, &request, &ctx));
    b->clip.bound =
        example_sums_bound(b->private.sums, b->clip.norm / sotto_dpsgd_session_lattice(b->reserved));
}

/* The head trainer reports every 16 steps. */
struct watch {
    size_t calls;
    double last, gap[STEPS_MAX], before; /* MiB */
};

static void watch(void *user, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
    (void)stage, (void)done, (void)total, (void)unit;
    struct watch *w = user;
    if (w->calls == 0)
        w->before = forget_peak();
    double time = now();
    if (w->calls > 0 && w->calls <= STEPS_MAX)
        w->gap[w->calls - 1] = (time - w->last) / 16;
    w->calls++;
    w->last = time;
}

static void head(const struct settings *s, const char *ledger)
{
    enum { N = 10000, D = 128, CLASSES = 10 };
    static struct watch w;
    size_t batch = s->batch ? s->batch : 256;
    struct sotto_context ctx = {.threads = 1, .progress = watch, .user = &w};
    struct sotto_head_recipe recipe;
    struct sotto_head *h = NULL;
    struct sotto_certificate *certificate = NULL;
    float *x = base_alloc((size_t)N * D, sizeof *x);
    int64_t *y = base_alloc(N, sizeof *y);
    if (!x || !y)
        exit(1);
    struct rng random = rng_stream(1, RNG_TEST, 0, 0);
    for (size_t i = 0; i < (size_t)N * D; i++)
        x[i] = rng_unit_f(&random);
    for (size_t i = 0; i < N; i++)
        y[i] = (int64_t)(i % CLASSES);
    sotto_head_defaults(&recipe);
    recipe.trainer = "dp-sgd";
    recipe.batch = batch;
    recipe.epochs = 1 + 16 * s->steps * batch / N;
    recipe.noise_multiplier = 1.1;
    const struct sotto_head_privacy privacy = {.target = {NAN, 1e-5},
                                               .spend.dataset_id = "benchmark",
                                               .spend.source = &exercise,
                                               .spend.ledger = ledger};
    double plain = 0, private = 0; /* 0: not asked for */
    if (has_plain(s)) {            /* reports every epoch */
        struct sotto_head_recipe open = recipe;
        open.trainer = "sgd";
        must(sotto_head_train(&h, x, y, N, D, CLASSES, &open, &ctx));
        sotto_head_free(h);
        plain = median(w.gap, w.calls < 2 ? 1 : w.calls - 1) * 16 / (double)((N + batch - 1) / batch);
        w = (struct watch){0};
        h = NULL;
    }
    if (has_private(s)) {
        must(sotto_head_train_private(&h, &certificate, x, y, N, D, CLASSES, &recipe, &privacy, &ctx));
        private = median(w.gap, w.calls < 2 ? 1 : w.calls - 1);
    }
    printf("{\"bench\": \"dp_sgd\", \"model\": \"head\", \"batch\": %zu, \"parameters\": %d, \"threads\": 1, "
           "\"noise\": \"%s\", \"plain_ms\": %.5f, \"private_ms\": %.5f, \"ratio\": %.3f, \"peak_rss_mib\": "
           "%.1f, \"before_mib\": %.1f, "
           "\"images_per_second\": %.1f}\n",
           batch, (D + 1) * CLASSES, s->noise, 1e3 * plain, 1e3 * private, plain > 0 ? private / plain : 0,
           peak_mib(), w.before, (double)batch / (has_private(s) ? private : plain));
    sotto_certificate_free(certificate);
    sotto_head_free(h);
    base_free(x), base_free(y);
}

int main(int argc, char **argv)
{
    static struct bench b;
    static double ratio[STEPS_MAX];
    char folder[] = "/tmp/bench_dp_sgd.XXXXXX", ledger[64];
    size_t model = 0;
    b.settings = parse(argc, argv);
    while (model + 1 < MODELS && strcmp(models[model].name, b.settings.model) != 0)
        model++;
    if (!mkdtemp(folder))
        return 1;
    snprintf(ledger, sizeof ledger, "%s/ledger.jsonl", folder);
    if (strcmp(b.settings.model, "head") == 0) {
        head(&b.settings, ledger);
        unlink(ledger);
        rmdir(folder);
        return 0;
    }
    par_set_threads(b.settings.threads);
    b.batch = b.settings.batch ? b.settings.batch : models[model].batch;
    b.classes = models[model].config.classes;
    b.clip = (struct nn_clip){.norm = 1, .gamma = 0.01};
    b.clip.kind = strcmp(b.settings.clip, "layers") == 0      ? NN_CLIP_LAYERS
                  : strcmp(b.settings.clip, "automatic") == 0 ? NN_CLIP_AUTOMATIC
                                                              : NN_CLIP_FLAT;
    int plain = has_plain(&b.settings), private = has_private(&b.settings);
    if (plain) {
        open_side(&b.plain, &models[model].config);
        must(nn_plan_create(
            &b.plain.plan, b.plain.model,
            &(struct nn_plan_config){.batch = b.batch, .backend = backend(&b.settings), .training = 1}));
    }
    if (private) {
        open_side(&b.private, &models[model].config);
        open_sums(&b);
    }
    b.parameters = nn_model_parameter_count(plain ? b.plain.model : b.private.model, 1);
    b.labels = base_alloc(b.batch, sizeof *b.labels);
    b.sum = base_alloc(b.parameters, sizeof *b.sum);
    b.slot = base_alloc(b.batch, sizeof *b.slot);
    if (!b.labels || !b.sum || !b.slot)
        return 1;
    if (private)
        reserve(&b, ledger);
    struct nn_shape input = models[model].config.input;
    struct rng random = rng_stream(1, RNG_TEST, 0, 0);
    for (size_t i = 0; i < b.batch * shape_count(input); i++) {
        float value = rng_unit_f(&random);
        if (plain)
            nn_plan_input(b.plain.plan)[i] = value;
    }
    for (size_t i = 0; i < b.batch; i++)
        b.labels[i] = (int64_t)rng_below(&random, b.classes);
    double before = forget_peak(), *parts[2] = {b.private.part[0], b.private.part[1]};
    for (size_t step = 0; step < b.settings.steps + WARM_UP; step++) {
        size_t at = step < WARM_UP ? 0 : step - WARM_UP;
        double t0 = now(), c0 = cpu_now();
        if (plain)
            plain_step(&b, step);
        double t1 = now(), c1 = cpu_now();
        if (private)
            private_step(&b, step, parts, at);
        double t2 = now(), c2 = cpu_now();
        b.plain.wall[at] = t1 - t0, b.plain.cpu[at] = c1 - c0;
        b.private.wall[at] = t2 - t1, b.private.cpu[at] = c2 - c1;
        ratio[at] = (t2 - t1) / (t1 - t0);
    }
    size_t n = b.settings.steps;
    double rate = (double)b.batch / median(private ? b.private.wall : b.plain.wall, n);
    printf("{\"bench\": \"dp_sgd\", \"model\": \"%s\", \"batch\": %zu, \"parameters\": %zu, \"threads\": %d, "
           "\"noise\": \"%s\", \"clip\": \"%s\", \"plain_ms\": %.4f, \"private_ms\": %.4f, \"ratio\": %.3f, "
           "\"plain_cpu_ms\": %.4f, \"private_cpu_ms\": %.4f, \"sum_ms\": %.4f, "
           "\"noise_update_ms\": %.4f, \"open_cpu_ms\": %.1f, \"plain_plan_mib\": %.1f, "
           "\"private_plan_mib\": %.1f, "
           "\"peak_rss_mib\": %.1f, \"before_mib\": %.1f, "
           "\"images_per_second\": %.1f}\n",
           models[model].name, b.batch, b.parameters, b.settings.threads, b.settings.noise, b.settings.clip,
           1e3 * median(b.plain.wall, n), 1e3 * median(b.private.wall, n),
           plain && private ? median(ratio, n) : 0, 1e3 * median(b.plain.cpu, n),
           1e3 * median(b.private.cpu, n), 1e3 * median(parts[0], n), 1e3 * median(parts[1], n), 1e3 * b.open,
           plain ? (double)nn_plan_bytes(b.plain.plan) / 1048576 : 0,
           private ? (double)example_sums_bytes(b.private.sums) / 1048576 : 0, peak_mib(), before, rate);
    sotto_dpsgd_session_close(b.reserved);
    nn_optimizer_free(b.plain.optimizer), nn_optimizer_free(b.private.optimizer);
    nn_plan_free(b.plain.plan), example_sums_free(b.private.sums);
    nn_model_free(b.plain.model), nn_model_free(b.private.model);
    base_free(b.labels), base_free(b.sum), base_free(b.slot);
    unlink(ledger);
    rmdir(folder);
    return 0;
}
