/* Equations (2) to (5) and (7) of the residual-perturbation paper on one image: what the forward pass
 * hides, and what running it backwards restores. The paper's own velocity field is lost; this one is
 * smooth and bounded. */
#include "base/file.h"
#include "base/memory.h"
#include "data/image/image.h"
#include "io/json/json.h"
#include "rng/rng.h"
#include "sotto/lab/data.h"
#include "sotto/lab/residual.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 100, CHANNELS = 3, KERNELS = 4, TAPS = 9, ITERATIONS = 40, PATH = 4096 };
static const double step_length = 1. / STEPS, lipschitz = 3;

struct field {
    double kernel[KERNELS][CHANNELS][CHANNELS * TAPS];
    size_t height, width;
};
static const struct {
    const char *name;
    double gamma;
    bool multiplicative, solved;
} schemes[SOTTO_SDE_RUNS] = {{"ode", 0, false, false},
                             {"ode-solved", 0, false, true},
                             {"additive-0.1", .1, false, false},
                             {"additive-1", 1, false, false},
                             {"multiplicative-0.1", .1, true, false},
                             {"multiplicative-1", 1, true, false}};

static size_t residual_sde_numbers(const struct field *f)
{
    return f->height * f->width * CHANNELS;
}

static void draw_kernels(struct field *f, uint64_t seed)
{
    for (size_t j = 0; j < KERNELS; j++)
        for (size_t c = 0; c < CHANNELS; c++) {
            struct rng r = rng_stream(seed, RNG_RESIDUAL, 1, j * CHANNELS + c);
            double sum = 0, *kernel = f->kernel[j][c];
            for (size_t k = 0; k < CHANNELS * TAPS; k++) {
                kernel[k] = rng_normal(&r);
                sum += fabs(kernel[k]);
            }
            for (size_t k = 0; k < CHANNELS * TAPS; k++)
                kernel[k] /= sum;
        }
}

/* out = F(u, step / STEPS); u is (H, W, 3). */
static void residual_sde_velocity(double *out, const struct field *f, const double *u, size_t step)
{
    size_t j = step * KERNELS / STEPS, h = f->height, w = f->width;
    j = j < KERNELS ? j : KERNELS - 1;
    for (size_t y = 0; y < h; y++)
        for (size_t x = 0; x < w; x++)
            for (size_t c = 0; c < CHANNELS; c++) {
                const double *kernel = f->kernel[j][c];
                double sum = 0;
                for (size_t tap = 0; tap < TAPS; tap++) {
                    const double *at =
                        u + (((y + h + tap / 3 - 1) % h) * w + (x + w + tap % 3 - 1) % w) * CHANNELS;
                    for (size_t from = 0; from < CHANNELS; from++)
                        sum += kernel[tap * CHANNELS + from] * at[from];
                }
                out[(y * w + x) * CHANNELS + c] = lipschitz * tanh(sum);
            }
}

/* u += noise of one step; direction 0 forward, 1 back. */
static void residual_sde_shake(double *u, size_t n, size_t scheme, size_t step, size_t direction,
                               uint64_t seed)
{
    double scale = schemes[scheme].gamma * sqrt(step_length);
    struct rng r = rng_stream(seed, RNG_RESIDUAL, 2 + scheme, 2 * step + direction);
    for (size_t i = 0; scale > 0 && i < n; i++)
        u[i] += scale * (schemes[scheme].multiplicative ? u[i] : 1) * rng_normal(&r);
}

static void residual_sde_forward(double *u, double *v, const struct field *f, size_t scheme, uint64_t seed)
{
    size_t n = residual_sde_numbers(f);
    for (size_t step = 0; step < STEPS; step++) {
        residual_sde_velocity(v, f, u, step);
        residual_sde_shake(u, n, scheme, step, 0, seed);
        for (size_t i = 0; i < n; i++)
            u[i] += step_length * v[i];
    }
}

static void residual_sde_backward(double *u, double *v, const struct field *f, size_t scheme, uint64_t seed)
{
    size_t n = residual_sde_numbers(f);
    for (size_t step = STEPS; step > 0; step--) {
        residual_sde_velocity(v, f, u, step);
        residual_sde_shake(u, n, scheme, step, 1, seed);
        for (size_t i = 0; i < n; i++)
            u[i] -= step_length * v[i];
    }
}

/* Solves u = x + dt F(x, t) for x by iterating x = u - dt F(x, t), which contracts: dt times F's slope is
 * below .1. */
static void solve_back(double *u, double *v, double *end, const struct field *f)
{
    size_t n = residual_sde_numbers(f);
    for (size_t step = STEPS; step > 0; step--) {
        memcpy(end, u, n * sizeof *u);
        for (size_t k = 0; k < ITERATIONS; k++) {
            residual_sde_velocity(v, f, u, step - 1);
            for (size_t i = 0; i < n; i++)
                u[i] = end[i] - step_length * v[i];
        }
    }
}

static sotto_status write_image(const char *folder, const char *name, const char *what, const double *u,
                                const struct field *f, uint8_t *bytes)
{
    sotto_status status = SOTTO_OK;
    char file[64], path[PATH];
    snprintf(file, sizeof file, "%s%s.png", name, what);
    TRY(path_join(path, sizeof path, folder, file));
    for (size_t i = 0; i < residual_sde_numbers(f); i++)
        bytes[i] = (uint8_t)(255 * fmin(fmax(u[i], 0), 1) + .5);
    TRY(image_write_png(path, bytes, f->height, f->width));
done:
    return status;
}

static sotto_status write_results(const char *folder, const struct sotto_sde_run *runs,
                                  const struct sotto_dataset *data, int64_t row, uint64_t seed)
{
    sotto_status status = SOTTO_OK;
    char path[PATH];
    struct json *doc = json_make_object(), *list = json_make_array();
    json_put_text(&doc, "schema", "sotto.sde/1");
    json_put_text(&doc, "data", data->name);
    json_put_boolean(&doc, "synthetic", data->synthetic);
    json_put_integer(&doc, "row", row);
    json_put_integer(&doc, "seed", (int64_t)seed);
    for (size_t i = 0; i < SOTTO_SDE_RUNS; i++) {
        struct json *run = json_make_object();
        json_put_text(&run, "name", runs[i].name);
        json_put_real(&run, "gamma", runs[i].gamma);
        json_put_boolean(&run, "multiplicative", runs[i].multiplicative);
        json_put_real(&run, "rmse", runs[i].rmse);
        json_put_real(&run, "predicted", runs[i].predicted);
        json_push(&list, run);
    }
    json_put(&doc, "runs", list);
    TRY(path_join(path, sizeof path, folder, "sde.json"));
    TRY(json_write_file(path, doc, JSON_PRETTY));
done:
    json_free(doc);
    return status;
}

static double residual_sde_rmse(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (a[i] - (b ? b[i] : 0)) * (a[i] - (b ? b[i] : 0));
    return sqrt(sum / (double)n);
}

sotto_status sotto_sde_demo(struct sotto_sde_run runs[SOTTO_SDE_RUNS], const char *folder,
                            const struct sotto_dataset *data, int64_t row, uint64_t seed,
                            const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(runs, folder, data);
    sotto_status status = SOTTO_OK;
    double *image = NULL, *u, *v, *end;
    uint8_t *bytes = NULL;
    REQUIRE(data->images, "data set '%s' has no images", data->name);
    REQUIRE(row >= 0 && (uint64_t)row < data->n, "row %lld; data set '%s' has rows 0 to %zu", (long long)row,
            data->name, data->n - 1);
    struct field f = {.height = data->height, .width = data->width};
    size_t n = residual_sde_numbers(&f), plane = f.height * f.width;
    draw_kernels(&f, seed);
    NEW(image, 4 * n);
    NEW(bytes, n);
    u = image + n, v = u + n, end = v + n;
    const uint8_t *pixels = data->images + (size_t)row * data->channels * plane;
    for (size_t i = 0; i < n; i++) {
        const size_t pixel = i / CHANNELS, channel = i % CHANNELS;
        image[i] = pixels[(channel < data->channels ? channel : 0) * plane + pixel] / 255.;
    }
    TRY(context_check(ctx, "sde: stopped before the first run"));
    TRY(folder_make(folder));
    TRY(write_image(folder, "image", "", image, &f, bytes));
    for (size_t scheme = 0; scheme < SOTTO_SDE_RUNS; scheme++) {
        struct sotto_sde_run *run = &runs[scheme];
        TRY(context_check(ctx, "sde: stopped after %zu of %d runs", scheme, SOTTO_SDE_RUNS));
        double gamma = schemes[scheme].gamma;
        *run = (struct sotto_sde_run){.gamma = gamma, .multiplicative = schemes[scheme].multiplicative};
        snprintf(run->name, sizeof run->name, "%s", schemes[scheme].name);
        memcpy(u, image, n * sizeof *u);
        residual_sde_forward(u, v, &f, scheme, seed);
        TRY(write_image(folder, run->name, "-features", u, &f, bytes));
        if (schemes[scheme].solved)
            solve_back(u, v, end, &f);
        else
            residual_sde_backward(u, v, &f, scheme, seed);
        TRY(write_image(folder, run->name, "-recovered", u, &f, bytes));
        run->rmse = residual_sde_rmse(u, image, n);
        run->predicted = gamma == 0 ? NAN
                         : run->multiplicative
                             ? residual_sde_rmse(image, NULL, n) * sqrt(exp(2 * gamma * gamma) - 1)
                             : gamma * sqrt(2);
    }
    TRY(write_results(folder, runs, data, row, seed));
done:
    base_free(image);
    base_free(bytes);
    return status;
}
