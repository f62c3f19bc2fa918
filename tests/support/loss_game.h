/* loss_game.h - an analyst who looks at each output before he chooses the next release, by backward induction
 * over the loss of what he has seen. Nothing of the library is used.
 *
 * A curve is V(x) = the best he can still make of P(S) - e^x Q(S), for all real x. With the release R next and V
 * behind it, that is int R(dm) V(x - m); a choice is the larger of two curves, at each x. Curves are convex in
 * X = e^x and are kept at equally spaced x. Between two points stands the chord in X, above the curve, so a value
 * is never too small. Where V falls like e^(-s x) the chord is too large by at most (s step)^2 / 8 of V, where V
 * has a corner by s step / 4. */
#ifndef TESTS_LOSS_GAME_H
#define TESTS_LOSS_GAME_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum release_kind { GAUSSIAN, RESPONSE, LAPLACE, COIN };
struct release {
    enum release_kind kind;
    double
        size; /* the shift mu; epsilon of a randomised response; of Laplace noise; the chance to tell all */
};

struct grid {
    double low, step;
    int n;
};
struct curve {
    struct grid at;
    double *v;
};

static inline double grid_x(const struct grid *g, int i)
{
    return g->low + i * g->step;
}

static inline struct grid grid_between(double low, double high, double step)
{
    return (struct grid){low, step, (int)lround((high - low) / step) + 1};
}

static inline struct curve curve_new(struct grid at)
{
    return (struct curve){at, calloc((size_t)at.n, sizeof(double))};
}

static inline double normal_below(double z)
{
    return 0.5 * erfc(-z * M_SQRT1_2);
}

/* P(S) - e^x Q(S) of the best S: of N(mu, 1) against N(0, 1). */
static inline double gaussian_curve(double mu, double x)
{
    if (mu <= 0)
        return fmax(0, -expm1(x));
    return normal_below(mu / 2 - x / mu) - exp(x) * normal_below(-mu / 2 - x / mu);
}

static inline double release_curve(struct release r, double x)
{
    const double nothing = fmax(0, -expm1(x)), p = 1 / (1 + exp(-r.size));
    switch (r.kind) {
    case GAUSSIAN:
        return gaussian_curve(r.size, x);
    case RESPONSE: /* a fair answer with probability p, else its opposite: losses +-epsilon */
        return p * fmax(0, -expm1(x - r.size)) + (1 - p) * fmax(0, -expm1(x + r.size));
    case LAPLACE:
        return x >= r.size ? 0 : x <= -r.size ? nothing : -expm1((x - r.size) / 2);
    case COIN:
        return r.size + (1 - r.size) * nothing;
    }
    return NAN;
}

/* What it adds to the curve (1 - e^x)_+ of no release; by the mirror where that is large. */
static inline double release_excess(struct release r, double x)
{
    return x >= 0 ? release_curve(r, x) : exp(x) * release_curve(r, -x);
}

/* The chords of a curve as masses w[i] at the losses x_i: V(x) = sum w[i] (1 - e^(x - x_i))_+ + V(last). */
static inline void curve_masses(double *w, const struct curve *c)
{
    const double rise = expm1(c->at.step), *v = c->v;
    const int n = c->at.n;
    w[0] = (v[1] - v[0]) / rise - (v[0] - 1);
    for (int i = 1; i < n - 1; i++)
        w[i] = (v[i + 1] - v[i] - (v[i] - v[i - 1])) / rise - (v[i] - v[i - 1]);
    w[n - 1] = -(v[n - 1] - v[n - 2]) * (1 + 1 / rise);
}

/* At one x: the release first, then what `behind` can make of it. */
static inline double play_at(double x, struct release r, const struct curve *behind)
{
    const struct grid *g = &behind->at;
    double *w = malloc((size_t)g->n * sizeof *w), sum = behind->v[g->n - 1];
    if (r.kind == COIN)
        sum *= 1 - r.size;
    curve_masses(w, behind);
    for (int i = 0; i < g->n; i++) {
        const double nothing = fmax(0, -expm1(x - grid_x(g, i)));
        sum += w[i] * (r.kind == COIN ? (1 - r.size) * nothing : release_curve(r, x - grid_x(g, i)));
    }
    free(w);
    return r.kind == COIN ? r.size + sum : sum;
}

/* The same at all points, where it is larger than what `best` has already (or NULL: written to `best`). */
static inline void play(struct curve *best, struct release r, const struct curve *behind)
{
    const struct grid *g = &behind->at;
    const double reach = r.kind == GAUSSIAN ? 9 * r.size + r.size * r.size / 2 : r.size; /* beyond: < 1e-18 */
    const int k = (int)fmin(g->n, ceil(reach / g->step));
    double *w = malloc((size_t)g->n * sizeof *w), *add = malloc((size_t)(2 * k + 1) * sizeof *add);
    double *out = malloc((size_t)g->n * sizeof *out);
    memcpy(out, behind->v, (size_t)g->n * sizeof *out);
    if (r.kind == COIN) {
        for (int j = 0; j < g->n; j++)
            out[j] = r.size + (1 - r.size) * out[j];
    } else {
        curve_masses(w, behind);
        for (int j = -k; j <= k; j++)
            add[j + k] = release_excess(r, j * g->step);
        for (int i = 0; i < g->n; i++) {
            const int from = i - k < 0 ? 0 : i - k, to = i + k >= g->n ? g->n - 1 : i + k;
            for (int j = from; j <= to; j++)
                out[j] += w[i] * add[j - i + k];
        }
    }
    for (int j = 0; j < g->n; j++)
        best->v[j] = fmax(best->v[j], out[j]);
    free(w);
    free(add);
    free(out);
}

/* The last release: nothing behind it. */
static inline void play_last(struct curve *best, struct release r)
{
    for (int j = 0; j < best->at.n; j++)
        best->v[j] = fmax(best->v[j], release_curve(r, grid_x(&best->at, j)));
}

/* He may also stop, where a loss above `printed` counts (0: at the x of the curve itself). */
static inline void play_stop(struct curve *best, double printed)
{
    for (int j = 0; j < best->at.n; j++)
        best->v[j] = fmax(best->v[j], -expm1(printed + grid_x(&best->at, j)));
}

/* Formula (1) of docs/derivations/adaptive.md: the curve of a coin, a randomised response and a Gaussian. */
struct box {
    double pure, square, failure; /* E, m, D */
};

static inline double box_curve(struct box b, double x)
{
    const double p = 1 / (1 + exp(-b.pure)), mu = sqrt(b.square);
    return b.failure +
           (1 - b.failure) * (p * gaussian_curve(mu, x - b.pure) + (1 - p) * gaussian_curve(mu, x + b.pure));
}

/* Sets one member of *b to the largest value, at most `most`, with which the curve at x is at most `level`. */
static inline void box_fill(struct box *b, double *member, double most, double x, double level)
{
    double low = 0, high = most;
    for (int i = 0; i < 100; i++) {
        *member = (low + high) / 2;
        *(box_curve(*b, x) <= level ? &low : &high) = *member;
    }
    *member = low;
}

#endif
