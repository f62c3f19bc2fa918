/* Many climbs walk side by side, so that the target is asked in batches: every round asks for one candidate
 * of each climb that still walks. */
#include "attack/shadow/synthesis.h"
#include "attack/target/target.h"
#include "sotto/attack.h"

#include <string.h>

enum { TOGETHER = 512 };

struct climb climb_defaults(size_t inputs)
{
    size_t half = inputs / 2 < 1 ? 1 : inputs / 2, most = half < 128 ? half : 128;
    return (struct climb){.redraw_max = most,
                          .redraw_min = most < 4 ? most : 4,
                          .rejections_max = 10,
                          .iterations_max = 1000,
                          .confidence_min = 0.2};
}

struct walker {
    size_t class, redraw, rejections, iterations;
    float best; /* posterior of the class at the best record so far */
    bool walking;
    struct rng random;
};

struct party {
    struct walker *walkers; /* (TOGETHER) */
    float *candidate;       /* (TOGETHER, d) */
    float *accepted;        /* (TOGETHER, d): best records so far */
    float *rows, *answers;  /* (TOGETHER, d), (TOGETHER, classes): what is asked this round */
    size_t *who;            /* (TOGETHER): whose row it is */
};

static void party_clear(struct party *p)
{
    base_free(p->walkers);
    base_free(p->candidate);
    base_free(p->accepted);
    base_free(p->rows);
    base_free(p->answers);
    base_free(p->who);
}

static sotto_status party_make(struct party *p, size_t d, size_t classes)
{
    sotto_status status = SOTTO_OK;
    NEW(p->walkers, TOGETHER);
    NEW(p->candidate, TOGETHER * d);
    NEW(p->accepted, TOGETHER * d);
    NEW(p->rows, TOGETHER * d);
    NEW(p->answers, TOGETHER * classes);
    NEW(p->who, TOGETHER);
done:
    return status;
}

static void synthesis_climb_start(struct walker *w, float *candidate, const struct feature_space *space,
                                  const struct climb *c, size_t class, size_t number, uint64_t seed)
{
    *w = (struct walker){.class = class, .redraw = c->redraw_max, .walking = true};
    w->random = rng_stream(seed, RNG_SYNTHETIC, 2 + class, number);
    feature_draw_row(candidate, space, &w->random);
}

static size_t synthesis_climb_largest(const float *p, size_t classes)
{
    size_t best = 0;
    for (size_t k = 1; k < classes; k++)
        best = p[k] > p[best] ? k : best;
    return best;
}

/* The next candidate: the best record with `redraw` of its features, chosen without repetition, drawn
 * anew. */
static void synthesis_climb_propose(struct walker *w, float *candidate, const float *accepted,
                                    const struct feature_space *space)
{
    size_t left = w->redraw;
    memcpy(candidate, accepted, space->d * sizeof *candidate);
    for (size_t j = 0; j < space->d && left > 0; j++)
        if (rng_below(&w->random, space->d - j) < left) { /* every subset of that size is as likely */
            candidate[j] = space->bit[j] ? 1 - candidate[j] : feature_draw(space, j, &w->random);
            left--;
        }
}

/* One round of one climb. True: the candidate is a record of the class. */
static bool synthesis_climb_advance(struct walker *w, float *candidate, float *accepted, const float *p,
                                    size_t classes, const struct feature_space *space, const struct climb *c)
{
    w->iterations++;
    if (p[w->class] >= w->best) {
        if ((double)p[w->class] > c->confidence_min && synthesis_climb_largest(p, classes) == w->class &&
            rng_unit(&w->random) < (double)p[w->class])
            return true;
        memcpy(accepted, candidate, space->d * sizeof *accepted);
        w->best = p[w->class];
        w->rejections = 0;
    } else if (++w->rejections > c->rejections_max) {
        size_t half = (w->redraw + 1) / 2;
        w->redraw = half < c->redraw_min ? c->redraw_min : half;
        w->rejections = 0;
    }
    w->walking = w->iterations < c->iterations_max;
    if (w->walking)
        synthesis_climb_propose(w, candidate, accepted, space);
    return false;
}

/* Asks once for everybody who still walks, and moves them. Returns how many still walk. */
static sotto_status synthesis_climb_walk(size_t *walking, struct party *p, struct synthetic *s, size_t count,
                                         struct sotto_target *t, const struct feature_space *space,
                                         const struct climb *c)
{
    sotto_status status = SOTTO_OK;
    size_t d = space->d, asked = 0;
    for (size_t i = 0; i < count; i++)
        if (p->walkers[i].walking) {
            memcpy(p->rows + asked * d, p->candidate + i * d, d * sizeof *p->rows);
            p->who[asked++] = i;
        }
    TRY(target_query(t, p->answers, p->rows, asked));
    *walking = 0;
    for (size_t a = 0; a < asked; a++) {
        size_t i = p->who[a];
        struct walker *w = &p->walkers[i];
        if (synthesis_climb_advance(w, p->candidate + i * d, p->accepted + i * d, p->answers + a * t->classes,
                                    t->classes, space, c)) {
            memcpy(s->x + s->n * d, p->candidate + i * d, d * sizeof *s->x);
            s->y[s->n++] = (int64_t)w->class;
            s->made[w->class]++;
            w->walking = false;
        } else if (!w->walking) {
            s->failed[w->class]++;
        }
        *walking += w->walking;
    }
done:
    return status;
}

sotto_status synthetic_climb(struct synthetic *out, struct sotto_target *t, const struct feature_space *space,
                             const struct climb *c, size_t per_class, uint64_t seed,
                             const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct synthetic s = {.kind = "synthesis"};
    struct party p = {0};
    size_t d = t->inputs, classes = t->classes, most, cells;
    uint64_t before = t->used;
    REQUIRE(
        size_multiply(&most, classes, per_class) && size_multiply(&cells, most, d) && most > 0,
        "synthesis: %zu records of each of %zu classes; expected at least 1, and few enough to fit in memory",
        per_class, classes);
    NEW(s.x, cells);
    NEW(s.y, most);
    NEW(s.made, classes);
    NEW(s.failed, classes);
    TRY(party_make(&p, d, classes));
    for (size_t first = 0; first < most; first += TOGETHER) {
        size_t count = most - first < TOGETHER ? most - first : TOGETHER, walking = count;
        for (size_t i = 0; i < count; i++)
            synthesis_climb_start(&p.walkers[i], p.candidate + i * d, space, c, (first + i) / per_class,
                                  (first + i) % per_class, seed);
        while (walking > 0) {
            if (context_stopped(ctx))
                FAIL(SOTTO_ESTOPPED, "stopped after %zu of %zu synthetic records; nothing was written", s.n,
                     most);
            TRY(synthesis_climb_walk(&walking, &p, &s, count, t, space, c));
        }
        context_progress(ctx, "synthesis", first + count, most, "records");
    }
    s.queries = t->used - before;
    *out = s;
done:
    if (status != SOTTO_OK)
        synthetic_clear(&s);
    party_clear(&p);
    return status;
}
