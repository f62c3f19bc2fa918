/* Membership of an encoder's pre-training set, learnt from a shadow encoder whose members the attacker knows.
 * A fresh half of the shadow's records teaches what is learnt, the other half sets every threshold, so that
 * nothing is judged on what taught it; the target's records are only scored. */
#include "options/option_tables.h"
#include "options/option_values.h"
#include "sotto/lab/audit.h"
#include "sotto/lab/head.h"
#include "sotto/option.h"
#include "attack/encoder/encoder_scores.h"

#include "audit/audit_document.h"
#include "audit/audit_private.h"
#include "audit/measure/metrics.h"
#include "attack/shadow/shadow_pool.h"
#include "rng/rng.h"

#include <math.h>
#include <string.h>

enum { VECTOR, SET, THRESHOLD, CONTRAST, NORM, ATTACKS, LEAST = 20 };
static const struct {
    const char *name, *title, *source;
} attacks[ATTACKS] = {
    {"encoder-mi-vector", "network on the sorted similarities between views of a record", "liu2021encodermi"},
    {"encoder-mi-set", "network on the set of similarities between views of a record, in any order",
     "liu2021encodermi"},
    {"encoder-mi-threshold", "mean similarity between views of a record", "liu2021encodermi"},
    {"encoder-contrastive", "contrastive loss of two views of a record among other records",
     "chen2020simclr"},
    {"encoder-norm-ratio", "likelihood ratio of the embedding's norm", "lpla"},
};

/* One encoder's records, members first. */
struct side {
    struct encoder_records member, nonmember;
    const float *bank;
    size_t n, pairs, zero;
    float *set, *sorted;    /* (n, pairs) */
    double *score[ATTACKS]; /* (n) */
};

struct encoder_attack {
    const struct sotto_encoder_attack_input *in;
    const struct sotto_context *ctx;
    uint64_t seed;
    struct side target, shadow;
    size_t *order; /* (shadow.n): those that teach, then those that set thresholds */
    size_t taught; /* of them */
    double threshold[ATTACKS], shadow_auc[ATTACKS];
    float mean, scale; /* of the shadow's similarities, for the networks */
    bool has_bank, has_shadow;
};

/* Is attack k run? What must be learnt needs a shadow. */
static bool is_run(const struct encoder_attack *a, int k)
{
    return k == THRESHOLD || (k == CONTRAST ? a->has_bank : a->has_shadow);
}

/* ---- what is given ---- */

static sotto_status check_values(const float *x, size_t n, const char *what)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; i < n; i++)
        REQUIRE(isfinite(x[i]), "%s: value %zu is not finite; embeddings must be finite", what, i);
done:
    return status;
}

static sotto_status take_records(struct encoder_records *out, const struct sotto_encoder_views *v,
                                 size_t views, size_t d, size_t least, const char *what)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(v->views && v->plain && v->n >= least, "%s: %zu records; expected at least %zu", what, v->n,
            least);
    TRY(check_values(v->views, v->n * views * d, what));
    TRY(check_values(v->plain, v->n * d, what));
    *out = (struct encoder_records){v->views, v->plain, v->n, views, d};
done:
    return status;
}

static sotto_status take_input(struct encoder_attack *a)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_encoder_attack_input *in = a->in;
    a->has_shadow = in->shadow_member.n > 0 || in->shadow_nonmember.n > 0;
    REQUIRE(in->views >= 2 && in->views <= 256 && in->width > 0 && (!a->has_shadow || in->shadow_width > 0),
            "encoder attack: %zu views of width %zu and %zu; expected 2 to 256 views, and widths > 0",
            in->views, in->width, in->shadow_width);
    REQUIRE(!in->bank == !in->bank_n && (in->bank && a->has_shadow) == (in->shadow_bank != NULL),
            "encoder attack: give bank, bank_n and, with a shadow, shadow_bank together, or none of them");
    REQUIRE(!in->bank || (in->temperature > 0 && isfinite(in->temperature)),
            "temperature must be > 0 (got %g)", in->temperature);
    TRY(take_records(&a->target.member, &in->member, in->views, in->width, 2, "members"));
    TRY(take_records(&a->target.nonmember, &in->nonmember, in->views, in->width, 2, "non-members"));
    if (a->has_shadow) {
        TRY(take_records(&a->shadow.member, &in->shadow_member, in->views, in->shadow_width, LEAST,
                         "shadow's members"));
        TRY(take_records(&a->shadow.nonmember, &in->shadow_nonmember, in->views, in->shadow_width, LEAST,
                         "shadow's non-members"));
    }
    if (in->bank)
        TRY(check_values(in->bank, in->bank_n * in->width, "bank"));
    if (in->shadow_bank)
        TRY(check_values(in->shadow_bank, in->bank_n * in->shadow_width, "bank"));
    a->target.bank = in->bank, a->shadow.bank = in->shadow_bank;
    a->has_bank = in->bank != NULL;
done:
    return status;
}

/* ---- scores that nothing must be learnt for ---- */

static sotto_status side_measure(struct side *s, const struct encoder_attack *a)
{
    sotto_status status = SOTTO_OK;
    size_t m = s->member.n, zero[2] = {0, 0};
    s->n = m + s->nonmember.n;
    s->pairs = encoder_pairs(a->in->views);
    NEW_ROWS(s->set, s->n, s->pairs);
    NEW_ROWS(s->sorted, s->n, s->pairs);
    for (int k = 0; k < ATTACKS; k++)
        NEW(s->score[k], s->n);
    encoder_similarities(s->set, &zero[0], &s->member);
    TRY(context_check(a->ctx, "attack: stopped while views were compared"));
    encoder_similarities(s->set + m * s->pairs, &zero[1], &s->nonmember);
    TRY(context_check(a->ctx, "attack: stopped while views were compared"));
    s->zero = zero[0] + zero[1];
    memcpy(s->sorted, s->set, s->n * s->pairs * sizeof *s->set);
    encoder_sort(s->sorted, s->n, s->pairs);
    encoder_means(s->score[THRESHOLD], s->set, s->n, s->pairs);
    encoder_norms(s->score[NORM], &s->member);
    encoder_norms(s->score[NORM] + m, &s->nonmember);
    if (a->has_bank) {
        encoder_contrast(s->score[CONTRAST], &s->member, s->bank, a->in->bank_n, a->in->temperature);
        encoder_contrast(s->score[CONTRAST] + m, &s->nonmember, s->bank, a->in->bank_n, a->in->temperature);
    }
done:
    return status;
}

static void side_clear(struct side *s)
{
    base_free(s->set);
    base_free(s->sorted);
    for (int k = 0; k < ATTACKS; k++)
        base_free(s->score[k]);
}

/* ---- what the shadow teaches ---- */

static bool shadow_is_member(const struct encoder_attack *a, size_t record)
{
    return record < a->shadow.member.n;
}

/* Half of either side, by lot. */
static sotto_status draw_order(struct encoder_attack *a)
{
    sotto_status status = SOTTO_OK;
    size_t n = a->shadow.n, m = a->shadow.member.n, first = m / 2, teach = 0, rest = 0;
    struct rng r = rng_stream(a->seed, RNG_SPLIT, 11, 0);
    int64_t *drawn = NULL;
    NEW(drawn, n);
    NEW(a->order, n);
    for (size_t i = 0; i < n; i++)
        drawn[i] = (int64_t)i;
    rng_shuffle(&r, drawn, m);
    rng_shuffle(&r, drawn + m, n - m);
    a->taught = first + (n - m) / 2;
    rest = a->taught;
    for (size_t i = 0; i < n; i++)
        a->order[i < first || (i >= m && i < m + (n - m) / 2) ? teach++ : rest++] = (size_t)drawn[i];
done:
    base_free(drawn);
    return status;
}

/* The likelihood ratio of the norm replaces the norm. */
static sotto_status learn_norm(struct encoder_attack *a)
{
    sotto_status status = SOTTO_OK;
    double *norm = NULL;
    size_t members = 0, others = 0;
    NEW(norm, a->taught);
    for (size_t i = 0; i < a->taught; i++)
        if (shadow_is_member(a, a->order[i]))
            norm[members++] = a->shadow.score[NORM][a->order[i]];
    for (size_t i = 0; i < a->taught; i++)
        if (!shadow_is_member(a, a->order[i]))
            norm[members + others++] = a->shadow.score[NORM][a->order[i]];
    struct normal_pair p = normal_pair_fit(norm, members, norm + members, others);
    for (size_t i = 0; i < a->shadow.n; i++)
        a->shadow.score[NORM][i] = normal_pair_ratio(&p, a->shadow.score[NORM][i]);
    for (size_t i = 0; i < a->target.n; i++)
        a->target.score[NORM][i] = normal_pair_ratio(&p, a->target.score[NORM][i]);
done:
    base_free(norm);
    return status;
}

static void encoder_attack_standardise(struct encoder_attack *a)
{
    double sum = 0, squares = 0, n = (double)(a->taught * a->shadow.pairs);
    for (size_t i = 0; i < a->taught; i++)
        for (size_t k = 0; k < a->shadow.pairs; k++) {
            double s = (double)a->shadow.set[a->order[i] * a->shadow.pairs + k];
            sum += s, squares += s * s;
        }
    a->mean = (float)(sum / n);
    a->scale = (float)(1 / fmax(sqrt(fmax(squares / n - sum / n * sum / n, 0)), 1e-6));
}

static void put_rows(float *out, const float *rows, const size_t *order, size_t n,
                     const struct encoder_attack *a)
{
    size_t pairs = a->shadow.pairs;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < pairs; k++)
            out[i * pairs + k] = (rows[(order ? order[i] : i) * pairs + k] - a->mean) * a->scale;
}

/* Two hidden layers of 256 on the sorted similarities; Adam at 1e-3. */
static sotto_status train_vector(struct sotto_head **head, const struct head_data *own, uint64_t seed,
                                 const struct sotto_context *ctx)
{
    const struct sotto_context quiet = context_quiet(ctx, 0);
    struct sotto_head_recipe recipe;
    sotto_head_defaults(&recipe);
    recipe.hidden_count = 2;
    recipe.hidden[0] = recipe.hidden[1] = 256;
    recipe.epochs = 30;
    recipe.batch = 64;
    recipe.seed = sotto_given_seed(seed);
    return sotto_head_train(head, own->x, own->y, own->n, own->d, own->classes, &recipe, &quiet);
}

static sotto_status train_set(struct sotto_network **net, const struct head_data *own, uint64_t seed,
                              const struct sotto_context *ctx)
{
    struct sotto_train_options o;
    sotto_train_defaults(&o);
    o.model = "deep-sets";
    o.channels = o.width = 1, o.height = own->d;
    o.epochs = 60;
    o.batch = 64;
    o.lr = 3e-3;
    o.dtype = "f32";
    o.seed = seed;
    return shadow_network_train(net, own, &o, NULL, 0, ctx);
}

/* Log-odds of membership of all records of one encoder. */
static sotto_status encoder_attack_ask(double *scores, const struct side *s, const float *rows,
                                       const struct sotto_head *head, const struct sotto_network *net,
                                       const struct encoder_attack *a)
{
    sotto_status status = SOTTO_OK;
    float *x = NULL, *logits = NULL;
    NEW(x, s->n * s->pairs);
    NEW_ROWS(logits, s->n, 2);
    put_rows(x, rows, NULL, s->n, a);
    TRY(head ? sotto_head_predict(logits, head, x, s->n, s->pairs, 1, a->ctx)
             : sotto_network_predict(logits, net, x, s->n, s->pairs, 1, a->ctx));
    for (size_t i = 0; i < s->n; i++)
        scores[i] = (double)logits[2 * i + 1] - (double)logits[2 * i];
done:
    base_free(x);
    base_free(logits);
    return status;
}

static sotto_status learn_networks(struct encoder_attack *a)
{
    sotto_status status = SOTTO_OK;
    struct sotto_head *head = NULL;
    struct sotto_network *net = NULL;
    size_t pairs = a->shadow.pairs;
    float *x = NULL;
    int64_t *y = NULL;
    NEW(x, a->taught * pairs);
    NEW(y, a->taught);
    for (size_t i = 0; i < a->taught; i++)
        y[i] = shadow_is_member(a, a->order[i]);
    encoder_attack_standardise(a);
    struct head_data own = {x, y, a->taught, pairs, 2};
    put_rows(x, a->shadow.sorted, a->order, a->taught, a);
    TRY(train_vector(&head, &own, a->seed, a->ctx));
    TRY(encoder_attack_ask(a->shadow.score[VECTOR], &a->shadow, a->shadow.sorted, head, NULL, a));
    TRY(encoder_attack_ask(a->target.score[VECTOR], &a->target, a->target.sorted, head, NULL, a));
    put_rows(x, a->shadow.set, a->order, a->taught, a);
    TRY(train_set(&net, &own, a->seed, a->ctx));
    TRY(encoder_attack_ask(a->shadow.score[SET], &a->shadow, a->shadow.set, NULL, net, a));
    TRY(encoder_attack_ask(a->target.score[SET], &a->target, a->target.set, NULL, net, a));
done:
    sotto_head_free(head);
    sotto_network_free(net);
    base_free(x);
    base_free(y);
    return status;
}

/* On the half of the shadow's records that taught nothing. */
static sotto_status set_threshold(struct encoder_attack *a, int k)
{
    sotto_status status = SOTTO_OK;
    struct roc c = {0};
    size_t members = 0, others = 0, n = a->shadow.n - a->taught;
    double *score = NULL;
    bool exact;
    NEW(score, 2 * n);
    for (size_t i = a->taught; i < a->shadow.n; i++) {
        double s = a->shadow.score[k][a->order[i]];
        if (shadow_is_member(a, a->order[i]))
            score[members++] = s;
        else
            score[n + others++] = s;
    }
    TRY(roc_make(&c, score, members, score + n, others));
    a->threshold[k] = roc_threshold_balanced(&c);
    a->shadow_auc[k] = roc_auc(&c, 0.95, &exact).estimate;
done:
    roc_clear(&c);
    base_free(score);
    return status;
}

/* ---- what comes out ---- */

static sotto_status set_facts(struct sotto_audit_result *r, const struct encoder_attack *a)
{
    sotto_status status = SOTTO_OK;
    struct sotto_encoder_facts *f;
    TAKE(&r->memory, f, 1);
    TAKE(&r->memory, f->shadow_auc, ATTACKS);
    f->about = "members pre-trained the encoder; a head trained on its embeddings has members of its own";
    f->views = a->in->views;
    f->bank = a->in->bank_n;
    f->shadow_members = a->shadow.member.n;
    f->shadow_nonmembers = a->shadow.nonmember.n;
    f->views_without_direction = a->target.zero + a->shadow.zero;
    for (int k = 0; k < ATTACKS; k++)
        if (a->has_shadow && is_run(a, k))
            f->shadow_auc[f->shadow_auc_count++] =
                (struct sotto_audit_parameter){attacks[k].name, a->shadow_auc[k]};
    r->encoder = f;
done:
    return status;
}

static sotto_status encoder_attack_measure(struct sotto_audit_result *out, const struct encoder_attack *a,
                                           const struct sotto_audit_options *options)
{
    sotto_status status = SOTTO_OK;
    struct sotto_audit_scores named[ATTACKS];
    struct sotto_audit_input arrays = {
        .n_member = a->target.member.n, .n_nonmember = a->target.nonmember.n, .named = named};
    struct sotto_audit_result r = {0};
    for (int k = 0; k < ATTACKS; k++)
        if (is_run(a, k))
            named[arrays.named_count++] =
                (struct sotto_audit_scores){.name = attacks[k].name,
                                            .title = attacks[k].title,
                                            .source = attacks[k].source,
                                            .member = a->target.score[k],
                                            .nonmember = a->target.score[k] + arrays.n_member,
                                            .has_threshold = a->has_shadow,
                                            .threshold = a->threshold[k]};
    TRY(sotto_audit(&r, &arrays, options, a->ctx));
    TRY(set_facts(&r, a));
    *out = r;
done:
    if (status != SOTTO_OK)
        sotto_audit_result_free(&r);
    return status;
}

sotto_status sotto_encoder_attack(struct sotto_audit_result *out, double *scores,
                                  const struct sotto_encoder_attack_input *in,
                                  const struct sotto_audit_options *options, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, in);
    sotto_status status = SOTTO_OK;
    struct encoder_attack a = {.ctx = ctx};
    struct sotto_encoder_attack_input full;
    struct sotto_audit_options o;
    TRY(audit_of_attack(&o, options));
    TRY(sotto_options_resolve(&full, in, options_encoder_attack));
    a.in = &full;
    a.seed = o.seed & 0xffffffff;
    TRY(take_input(&a));
    TRY(side_measure(&a.target, &a));
    if (a.has_shadow) {
        TRY(side_measure(&a.shadow, &a));
        TRY(draw_order(&a));
        TRY(learn_norm(&a));
        TRY(learn_networks(&a));
    }
    for (int k = 0; k < ATTACKS; k++)
        if (a.has_shadow && is_run(&a, k))
            TRY(set_threshold(&a, k));
    options_state(&o, options_audit);
    TRY(encoder_attack_measure(out, &a, &o));
    for (int k = 0; scores && k < ATTACKS; k++)
        memcpy(scores + (size_t)k * a.target.n, a.target.score[k], a.target.n * sizeof *scores);
done:
    side_clear(&a.target);
    side_clear(&a.shadow);
    base_free(a.order);
    return status;
}
