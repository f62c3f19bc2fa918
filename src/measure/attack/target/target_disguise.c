/* A target behind a disguise: the attack's rows are dealt to several clients and stand among benign ones, so that who watches the
 * queries finds less in them. What is answered stays the same. */
#include "attack/target/target.h"
#include "options/option_tables.h"
#include "rng/rng.h"
#include "sotto/lab/query.h"
#include "sotto/option.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PIECE = 256 /* rows of the attack that are hidden at once */ };

struct disguised_target {
    struct sotto_target target;
    struct sotto_target *inner; /* owned */
    struct sotto_disguise_options o;
    float *cover;                             /* (cover_rows, inputs) */
    size_t cover_rows, next_cover, next_turn; /* next_turn: of the clients */
    struct rng places;
};

/* Rows of one client in a piece, and where the attack's stand among them. */
struct client_frame {
    float *rows, *answers;
    size_t *place; /* of the k-th row of the attack */
    size_t count;
};

static void frame_clear(struct client_frame *f)
{
    base_free(f->rows);
    base_free(f->answers);
    base_free(f->place);
}

static void add_cover(struct client_frame *f, struct disguised_target *t, size_t count)
{
    const size_t d = t->target.inputs;
    for (size_t i = 0; i < count; i++) {
        memcpy(f->rows + f->count++ * d, t->cover + t->next_cover * d, d * sizeof *f->rows);
        t->next_cover = (t->next_cover + 1) % t->cover_rows;
    }
}

/* Every spread-th row from `first` on, each behind `before` rows of cover and before the decoys. */
static sotto_status ask_client(struct disguised_target *t, float *posteriors, const float *rows,
                               const size_t *before, size_t first, size_t n)
{
    sotto_status status = SOTTO_OK;
    const size_t d = t->target.inputs, k = t->target.classes, step = t->o.spread;
    struct client_frame f = {0};
    size_t own = 0, all = 0;
    for (size_t i = first; i < n; i += step, own++)
        all += before[i] + 1 + t->o.decoys;
    NEW_ROWS(f.rows, all, d);
    NEW_ROWS(f.answers, all, k);
    NEW(f.place, own);
    for (size_t i = first, at = 0; i < n; i += step, at++) {
        add_cover(&f, t, before[i]);
        f.place[at] = f.count;
        memcpy(f.rows + f.count++ * d, rows + i * d, d * sizeof *rows);
        add_cover(&f, t, t->o.decoys);
    }
    TRY(target_query(t->inner, f.answers, f.rows, f.count));
    for (size_t i = first, at = 0; i < n; i += step, at++)
        memcpy(posteriors + i * k, f.answers + f.place[at] * k, k * sizeof *posteriors);
done:
    frame_clear(&f);
    return status;
}

/* How many rows of cover each row follows: benign rows until a coin says that it is the attack's turn. */
static size_t draw_cover(size_t *before, struct disguised_target *t, size_t n)
{
    size_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        for (before[i] = 0; t->o.dilute < 1 && rng_unit(&t->places) >= t->o.dilute;)
            before[i]++;
        sum += before[i] + t->o.decoys;
    }
    return sum;
}

static sotto_status ask_piece(struct disguised_target *t, float *posteriors, const float *rows, size_t n)
{
    sotto_status status = SOTTO_OK;
    const size_t clients = n < t->o.spread ? n : t->o.spread;
    char name[TARGET_CLIENT];
    size_t before[PIECE];
    const uint64_t cover = draw_cover(before, t, n);
    if (cover > t->target.budget - t->target.used)
        FAIL(SOTTO_EBUDGET, "%s: %llu rows of cover after %llu queries would exceed the budget of %llu",
             t->target.name, (unsigned long long)cover, (unsigned long long)t->target.used,
             (unsigned long long)t->target.budget);
    t->target.used += cover;
    t->target.cover += cover;
    for (size_t c = 0; c < clients; c++) {
        snprintf(name, sizeof name, "account-%zu", (t->next_turn + c) % t->o.spread + 1);
        if (t->o.spread > 1)
            target_command_client(t->inner, name);
        TRY(ask_client(t, posteriors, rows, before, c, n));
    }
    t->next_turn = (t->next_turn + n) % t->o.spread;
done:
    return status;
}

static sotto_status target_disguise_query(struct sotto_target *target, float *posteriors, const float *rows,
                                          size_t n)
{
    sotto_status status = SOTTO_OK;
    struct disguised_target *t = (struct disguised_target *)target;
    for (size_t first = 0; first < n; first += PIECE) {
        TRY(context_check(target->ctx, "%s: stopped after %zu of %zu rows", target->name, first, n));
        TRY(ask_piece(t, posteriors + first * target->classes, rows + first * target->inputs,
                      n - first < PIECE ? n - first : PIECE));
    }
done:
    return status;
}

static void close_disguised(struct sotto_target *target)
{
    struct disguised_target *t = (struct disguised_target *)target;
    sotto_target_close(t->inner);
    base_free(t->cover);
    base_free(t);
}

static sotto_status target_disguise_check(const struct sotto_disguise_options *o,
                                          const struct sotto_target *t, const float *cover, size_t cover_rows)
{
    sotto_status status = SOTTO_OK;
    const bool hides = o->dilute < 1 || o->decoys > 0;
    if (o->spread > 1 && !target_is_command(t))
        FAIL(SOTTO_EUSAGE,
             "attack: %zu clients of a target that is no command; expected {target|target-command} with "
             "{spread}",
             o->spread);
    if (hides && cover_rows == 0)
        FAIL(SOTTO_EUSAGE, "attack: {dilute} and {decoys} need benign rows to send; give them by {cover}");
    if (!hides && cover_rows > 0)
        FAIL(SOTTO_EUSAGE,
             "attack: rows of {cover} are sent by {dilute} and {decoys} only; give one of them");
    for (size_t i = 0; i < cover_rows * t->inputs; i++)
        REQUIRE(isfinite(cover[i]), "attack: row %zu of the cover is not finite; features must be finite",
                i / t->inputs);
done:
    return status;
}

sotto_status sotto_target_disguise(struct sotto_target **target, const struct sotto_disguise_options *options,
                                   const float *cover, size_t cover_rows, uint64_t seed)
{
    REQUIRE_GIVEN(target, !cover_rows || cover);
    REQUIRE_GIVEN(*target);
    sotto_status status = SOTTO_OK;
    struct disguised_target *t = NULL;
    NEW(t, 1);
    TRY(sotto_options_resolve(&t->o, options, options_disguise));
    TRY(sotto_options_check(&t->o, options_disguise, "spread|dilute|decoys"));
    TRY(target_disguise_check(&t->o, *target, cover, cover_rows));
    t->target = target_make((*target)->name, (*target)->inputs, (*target)->classes);
    t->target.used = (*target)->used;
    t->target.budget = (*target)->budget;
    t->target.clients = t->o.spread > 1 ? t->o.spread : 0;
    t->target.query = target_disguise_query;
    t->target.close = close_disguised;
    t->places = rng_stream(seed, RNG_PROBE, UINT64_MAX, 0);
    t->cover_rows = cover_rows;
    if (cover_rows > 0) {
        NEW_ROWS(t->cover, cover_rows, t->target.inputs);
        memcpy(t->cover, cover, cover_rows * t->target.inputs * sizeof *cover);
    }
    sotto_target_set_budget(*target, UINT64_MAX);
    t->inner = *target;
    *target = &t->target;
    t = NULL;
done:
    if (t)
        base_free(t->cover);
    base_free(t);
    return status;
}
