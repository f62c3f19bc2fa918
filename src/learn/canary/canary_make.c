/* The set to train on: the rows that no canary displaced, then a place for each canary. A canary never stands beside the
 * record it was made from: that person would have two records, and the account counts one. */
#include "base/file.h"
#include "canary/canaries.h"
#include "rng/rng.h"
#include "par/ranks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Seeded coins are another stream than the noise of the same seed. */
#define COIN_SEED 0x636f696e73ull
enum { ROOM = 1 << 13 /* of names in OUTPUT.canaries.npz */ };

static sotto_status canary_make_check(const struct sotto_canary_request *r)
{
    sotto_status status = SOTTO_OK;
    const size_t count = r->options.count, displaced = count * canary_displaces(r->options.kind, r->relation);
    const char *kind = canary_kind_name(r->options.kind);
    REQUIRE(count >= 1 && count <= 1000000, "canaries: %zu; expected 1 to 1000000", count);
    REQUIRE(r->data->labels, "canaries need a set with labels; '%s' has none", r->data->name);
    REQUIRE(displaced < r->n,
            "%zu canaries of kind %s take the place of %zu records, and there are %zu; give fewer "
            "{canaries.count|canaries}",
            count, kind, displaced, r->n);
    REQUIRE(r->classes >= 2, "canaries need at least 2 classes (got %zu)", r->classes);
    REQUIRE(r->classes >= 3 || r->options.kind != SOTTO_CANARY_MISLABELLED ||
                r->relation != SOTTO_CANARY_ONE_OF_TWO,
            "mislabelled canaries under replace-one need two wrong labels, and there are %zu classes; give "
            "{canaries.kind|canary-kind=random}, or {adjacency=zero-out}",
            r->classes);
    REQUIRE(r->options.kind != SOTTO_CANARY_DIRAC || r->relation != SOTTO_CANARY_IN_OR_OUT,
            "canaries of kind dirac are clipped gradients, which plain training does not have; give another "
            "{canaries.kind|canary-kind}, or train by DP-SGD");
    REQUIRE(!r->public_rows || r->options.kind == SOTTO_CANARY_CLIPBKD,
            "{public_rows|canary-public} is for {canaries.kind|canary-kind=clipbkd}; omit it");
done:
    return status;
}

static const unsigned char *values_of(const struct sotto_dataset *d, size_t row, size_t width)
{
    return d->images ? d->images + row * width : (const unsigned char *)(d->features + row * d->columns);
}

/* Rows in an order of which the first `displaced` leave. Which ones is drawn from the seed alone. */
static size_t order_rows(int64_t *rows, const struct sotto_canary_request *r)
{
    struct rng rng = rng_stream(r->options.seed, RNG_SPLIT, 'c', 0);
    const size_t displaced = r->options.count * canary_displaces(r->options.kind, r->relation);
    for (size_t i = 0; i < r->n; i++)
        rows[i] = r->rows ? r->rows[i] : (int64_t)i;
    for (size_t i = 0; i < displaced; i++) {
        const size_t k = i + rng_below(&rng, r->n - i);
        const int64_t row = rows[i];
        rows[i] = rows[k];
        rows[k] = row;
    }
    return displaced;
}

sotto_status canary_displaced(bool *out, const struct sotto_canary_request *r)
{
    sotto_status status = SOTTO_OK;
    struct sotto_canary_request by_place = *r;
    int64_t *rows = NULL;
    by_place.rows = NULL;
    NEW(rows, r->n);
    const size_t displaced = order_rows(rows, &by_place);
    for (size_t i = 0; i < r->n; i++)
        out[rows[i]] = i < displaced;
done:
    base_free(rows);
    return status;
}

/* A record that a private trainer cannot use adds nothing and has no class; so the trained model must not refuse to answer it either,
 * as that would tell of it. */
static void canary_make_silence(struct sotto_canaries *c, int k, size_t i)
{
    float *row = (float *)(void *)(c->values[k] + i * c->width);
    bool finite = true;
    for (size_t j = 0; j < c->width / sizeof *row; j++)
        finite &= isfinite(row[j]) != 0;
    if (finite)
        return;
    memset(row, 0, c->width);
    c->labels[k][i] = -1;
}

static sotto_status make_records(struct sotto_canaries *c, const struct sotto_canary_request *r,
                                 const int64_t *rows)
{
    sotto_status status = SOTTO_OK;
    const size_t each = canary_displaces(c->kind, c->relation),
                 d = c->data.images ? c->width : c->width / sizeof(float);
    float *directions = NULL;
    if (c->kind == SOTTO_CANARY_CLIPBKD)
        TRY(canary_directions(&directions, r->options.count, r->public_rows, r->public_n, d));
    for (int k = 0; k < 2; k++) {
        c->values[k] = base_alloc_rows(r->options.count, c->width, 1);
        NEW(c->labels[k], r->options.count);
        if (!c->values[k])
            FAIL(SOTTO_ENOMEM, "out of memory for %zu canaries", r->options.count);
    }
    for (size_t i = 0; i < r->options.count; i++) {
        struct canary_source from = {.direction = directions ? directions + i * d : NULL};
        for (size_t k = 0; k < each; k++) {
            const size_t row = (size_t)rows[i * each + k];
            from.displaced[k] = values_of(r->data, row, c->width);
            from.label[k] = r->data->labels[row];
        }
        canary_fill(c, i, r->classes, &from);
        for (int k = 0; k < 2 && !c->data.images && c->relation != SOTTO_CANARY_IN_OR_OUT; k++)
            canary_make_silence(c, k, i);
    }
done:
    base_free(directions);
    return status;
}

static void canary_make_point(struct sotto_dataset *d, const struct sotto_dataset *like,
                              unsigned char *values, int64_t *labels, size_t n)
{
    *d = *like;
    d->n = d->n_train = n;
    d->labels = labels;
    d->attribute = NULL;
    d->values = 0;
    d->images = like->images ? values : NULL;
    d->features = like->images ? NULL : (const float *)values;
}

/* Everything but the coins; what a run that continues has to have alike. */
static void hash_records(struct sotto_canaries *c, size_t n)
{
    struct sha256 sha;
    const uint64_t head[] = {c->seed, c->coins.count, c->width, n};
    sha256_init(&sha);
    sha256_update(&sha, c->coins.kind, strlen(c->coins.kind) + 1);
    sha256_update(&sha, head, sizeof head);
    for (int k = 0; k < 2; k++) {
        sha256_update(&sha, c->values[k], c->coins.count * c->width);
        sha256_update(&sha, c->labels[k], c->coins.count * sizeof(int64_t));
    }
    sha256_hex(&sha, c->coins.records);
}

/* The coins of the run that stands beside the output, or new ones. */
static sotto_status find_coins(struct sotto_canaries *c, const struct sotto_canary_request *r)
{
    sotto_status status = SOTTO_OK;
    char path[CANARY_PATH], finished[CANARY_PATH];
    struct canary_coins before = {0};
    TRY(canary_path(path, c->output, CANARY_COINS));
    TRY(canary_path(finished, c->output, CANARY_RECORDS));
    if (!file_exists(path)) {
        TRY(canary_coins_toss(&c->coins, r->insecure, r->insecure_seed ^ COIN_SEED));
        TRY(canary_coins_save(path, &c->coins));
        unlink(finished); /* of other coins */
        goto done;
    }
    if (file_exists(finished))
        FAIL(SOTTO_ECREATE,
             "%s: these coins were tossed for a training that has finished, and coins are used once; give "
             "{fresh} "
             "to train again with new ones, or another {output}",
             path);
    TRY(canary_coins_load(&before, path));
    REQUIRE(
        before.count == c->coins.count && strcmp(before.kind, c->coins.kind) == 0 &&
            strcmp(before.relation, c->coins.relation) == 0 &&
            strcmp(before.records, c->coins.records) == 0 && before.seeded == (r->insecure != 0),
        "%s: belongs to a training with other canaries or records; give the options of the interrupted run, "
        "or {fresh}",
        path);
    c->coins = before;
    before = (struct canary_coins){0};
done:
    canary_coins_clear(&before);
    return status;
}

/* What the set is known by: a checkpoint belongs to these coins, and to these records, as on ranks all must have both. */
static void hash_set(struct sotto_canaries *c)
{
    struct sha256 sha;
    const uint64_t head[] = {c->data.n, c->width, c->data.images != NULL};
    sha256_init(&sha);
    sha256_update(&sha, c->commitment, sizeof c->commitment);
    sha256_update(&sha, head, sizeof head);
    sha256_update(&sha, c->values[2], c->data.n * c->width);
    sha256_update(&sha, c->labels[2], c->data.n * sizeof(int64_t));
    sha256_hex(&sha, c->data.sha256);
}

/* The rows that stay, then the places by their coins. */
static sotto_status make_set(struct sotto_canaries *c, const struct sotto_canary_request *r,
                             const int64_t *rows)
{
    sotto_status status = SOTTO_OK;
    const size_t count = c->coins.count, displaced = count * canary_displaces(c->kind, c->relation);
    size_t n = r->n - displaced;
    c->first = n;
    c->values[2] = base_alloc_rows(n + count, c->width, 1);
    if (!c->values[2])
        FAIL(SOTTO_ENOMEM, "out of memory for %zu records with canaries", n + count);
    NEW(c->labels[2], n + count);
    for (size_t i = 0; i < n; i++) {
        memcpy(c->values[2] + i * c->width, values_of(r->data, (size_t)rows[displaced + i], c->width),
               c->width);
        c->labels[2][i] = r->data->labels[rows[displaced + i]];
    }
    for (size_t i = 0; i < count; i++) {
        const int coin = c->coins.heads[i] == '1';
        if (!coin && c->relation == SOTTO_CANARY_IN_OR_OUT)
            continue;
        memcpy(c->values[2] + n * c->width, c->values[coin] + i * c->width, c->width);
        c->labels[2][n++] = c->labels[coin][i];
    }
    canary_make_point(&c->data, r->data, c->values[2], c->labels[2], n);
    c->data.classes = r->classes;
    hash_set(c);
    if (c->kind == SOTTO_CANARY_DIRAC)
        goto done;
    canary_make_point(&c->record[1], r->data, c->values[1], c->labels[1], count);
    if (c->relation == SOTTO_CANARY_ONE_OF_TWO)
        canary_make_point(&c->record[0], r->data, c->values[0], c->labels[0], count);
done:
    return status;
}

/* What is written at the end, behind the charge, is possible and has room. */
static sotto_status canary_make_hold(struct sotto_canaries *c)
{
    sotto_status status = SOTTO_OK;
    char path[CANARY_PATH];
    TRY(canary_path(path, c->output, CANARY_RECORDS));
    TRY(file_hold(c->held, path, c->coins.count * (2 * c->width + 4 * sizeof(double)) + ROOM));
done:
    return status;
}

/* What needs no other rank: the canaries, in the places of `rows` (n), which it sets. */
static sotto_status canary_make_prepare(struct sotto_canaries *c, const struct sotto_canary_request *r,
                                        int64_t *rows)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_dataset *d = r->data;
    c->kind = r->options.kind, c->relation = r->relation, c->seed = r->options.seed ? r->options.seed : 1;
    c->data.images = d->images;
    c->width = d->images ? d->channels * d->height * d->width : d->columns * sizeof(float);
    c->coins.count = r->options.count;
    snprintf(c->coins.kind, sizeof c->coins.kind, "%s", canary_kind_name(c->kind));
    snprintf(c->coins.relation, sizeof c->coins.relation, "%s", canary_relation_name(c->relation));
    TRY(canary_path(c->output, r->output, ""));
    order_rows(rows, r);
    TRY(make_records(c, r, rows));
    NEW(c->black_box, r->options.count);
    NEW(c->held, 1);
    hash_records(c, r->n);
    if (sotto_team_rank(r->team) == 0) {
        TRY(canary_make_hold(c));
        TRY(find_coins(c, r));
    }
done:
    return status;
}

static sotto_status canary_make_begin(struct sotto_canaries **c, int64_t **rows,
                                      const struct sotto_canary_request *r)
{
    sotto_status status = SOTTO_OK;
    TRY(canary_make_check(r));
    NEW(*c, 1);
    NEW(*rows, r->n);
done:
    return status;
}

static sotto_status canary_make_all(struct sotto_canaries **out, const struct sotto_canary_request *r)
{
    sotto_status status = SOTTO_OK;
    struct sotto_canaries *c = NULL;
    int64_t *rows = NULL;
    TRY(team_agree(r->team, canary_make_begin(&c, &rows, r)));
    TRY(canary_ranks_share(&c->coins, r->team, canary_make_prepare(c, r, rows)));
    canary_coins_commitment(c->commitment, &c->coins);
    TRY(team_agree(r->team, make_set(c, r, rows)));
    *out = c;
    c = NULL;
done:
    sotto_canaries_free(c);
    base_free(rows);
    return status;
}

sotto_status sotto_canaries_make(struct sotto_canaries **out, const struct sotto_canary_request *request)
{
    REQUIRE_GIVEN(out, request);
    REQUIRE_GIVEN(request->team || request->data, request->team || request->output);
    sotto_status status = SOTTO_OK;
    struct sotto_canary_request own = *request;
    own.options.seed = own.options.seed ? own.options.seed : 1; /* not given */
    *out = NULL;
    TRY(canary_ranks_compare(&own));
    if (!own.team || own.options.count > 0)
        TRY(canary_make_all(out, &own));
done:
    return status;
}

void sotto_canaries_free(struct sotto_canaries *c)
{
    if (!c)
        return;
    for (int k = 0; k < 3; k++) {
        base_free(c->values[k]);
        base_free(c->labels[k]);
    }
    canary_coins_clear(&c->coins);
    if (c->held)
        file_release(c->held);
    base_free(c->held);
    base_free(c->black_box);
    base_free(c->white_box);
    base_free(c->coordinate);
    base_free(c->sampled);
    base_free(c->variance);
    base_free(c);
}

const struct sotto_dataset *sotto_canaries_data(const struct sotto_canaries *c)
{
    GIVEN_OR(NULL, c);
    return &c->data;
}

const struct sotto_dataset *sotto_canaries_records(const struct sotto_canaries *c, int heads)
{
    GIVEN_OR(NULL, c);
    return c->record[heads != 0].n ? &c->record[heads != 0] : NULL;
}

sotto_status sotto_canaries_purpose(char **text, const struct sotto_canaries *c, const char *purpose)
{
    REQUIRE_GIVEN(text, c);
    sotto_status status = SOTTO_OK;
    char *out = NULL;
    const size_t room = (purpose ? strlen(purpose) : 0) + 256;
    NEW(out, room);
    snprintf(out, room, "%s%s%zu canaries (%s, %s), %s %s", purpose ? purpose : "", purpose ? "; " : "",
             c->coins.count, c->coins.kind, c->coins.relation, c->coins.seeded ? "seeded coins" : "coins",
             c->commitment);
    *text = out;
done:
    return status;
}
