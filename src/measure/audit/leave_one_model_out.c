/* Intervals of one audit say how sure the rates of THIS model are. How much they differ from one training to
 * the next is another question, and the reference models answer it: each is the target once, the others
 * its references (as in Jebreel et al., Revisiting LiRA). The thresholds found there are also the attacker's:
 * their median is applied to the real target. Every attack that ran is repeated if what it needs is known of
 * a reference model, but for those that train a network. */
#include "audit/audit_private.h"
#include "audit/audit_references.h"
#include "audit/measure/sorted.h"
#include "audit/score/posterior.h"
#include "par/par.h"

#include <math.h>
#include <string.h>

enum { TARGETS = 16, RATES = 8 };
/* What several targets in one pass may take; the passes do not change a bit of the result. */
static const size_t pass_bytes = (size_t)192 << 20;

struct outcome {
    bool done;
    double auc, tpr[RATES], threshold[RATES];
};
struct trials {
    const struct audit_arrays *arrays;
    const struct audit_settings *settings;
    const struct score_attack **kind; /* (kinds): attacks that a reference model can be the target of */
    const double **scores;            /* (kinds): of the real target */
    size_t kinds, targets, model[TARGETS], rates;
    struct outcome *outcome;           /* (targets, kinds) */
    const char *closer;                /* the attack that keeps its flags, */
    uint8_t *flags;                    /* (TARGETS, n), at the first rate */
    uint8_t *trained;                  /* (TARGETS, n): which records the targets were trained on */
    double *signals;                   /* (pass, n), of the targets of this pass, */
    struct reference_summary *summary; /* (pass, n): and of the models that they are compared with */
    size_t first, pass;                /* this pass's targets: first .. first + pass */
};

/* What is known of a reference model as a target: its signals on the records, and where the audit got its
 * whole answers, those; on the population and on views where they were given. */
static unsigned known_of_references(const struct audit_arrays *s)
{
    unsigned have = s->have & (NEED_LOSSES | NEED_IN | NEED_OUT | NEED_VIEWS | NEED_SEVERAL);
    if (s->reference_outputs || s->reference_outputs_f8)
        have |= s->have & (NEED_OUTPUTS | NEED_LABELS | NEED_SHADOW);
    if (s->have & NEED_POPULATION_REFERENCE)
        have |= NEED_POPULATION | NEED_POPULATION_REFERENCE;
    return have;
}

/* A model's answers, signals and losses on every record, and on the population. */
struct left_out {
    struct attack_input all, population;
    double *outputs, *losses, *of_population, *of_views, *of_population_views;
};

static void left_out_clear(struct left_out *r)
{
    base_free(r->outputs);
    base_free(r->losses);
    base_free(r->of_population);
    base_free(r->of_views);
    base_free(r->of_population_views);
}

static sotto_status leave_one_model_out_column(double **out, const double *reference, size_t n, size_t models,
                                               size_t t)
{
    sotto_status status = SOTTO_OK;
    NEW(*out, n);
    for (size_t i = 0; i < n; i++)
        (*out)[i] = reference[i * models + t];
done:
    return status;
}

static sotto_status leave_one_model_out_widen(struct left_out *r, const struct audit_arrays *s, size_t t)
{
    sotto_status status = SOTTO_OK;
    size_t count = s->all.n * s->all.classes;
    NEW(r->outputs, count);
    for (size_t i = 0; i < count; i++)
        r->outputs[i] = s->reference_outputs ? (double)s->reference_outputs[t * count + i]
                                             : s->reference_outputs_f8[t * count + i];
    r->all.outputs = r->outputs;
done:
    return status;
}

/* Model t as the target, the others as its references. Clear in any case. */
static sotto_status left_out_make(struct left_out *r, const struct audit_arrays *s, size_t t,
                                  const double *signals, const struct reference_summary *summary)
{
    sotto_status status = SOTTO_OK;
    size_t n = s->all.n, models = s->all.models;
    *r = (struct left_out){.all = s->all, .population = s->population};
    r->all.outputs = NULL;
    NEW(r->losses, n);
    for (size_t i = 0; i < n; i++)
        r->losses[i] = -log_probability_of_signal(signals[i]);
    if (s->reference_outputs || s->reference_outputs_f8) {
        TRY(leave_one_model_out_widen(r, s, t));
        r->all.probabilities = s->reference_probabilities;
    }
    r->all.signals = signals;
    r->all.summary = summary;
    r->all.losses = r->losses;
    r->all.losses_of_signals = true;
    r->all.target_model = t + 1;
    r->all.population = NULL;
    if (s->all.view_reference) {
        TRY(leave_one_model_out_column(&r->of_views, s->all.view_reference, s->all.views * n, models, t));
        r->all.view_signals = r->of_views;
    }
    if (!s->population.reference && !s->population.view_reference)
        goto done; /* nothing is known of this model there */
    r->population.outputs = r->population.losses = NULL;
    r->population.target_model = t + 1;
    if (s->population.reference) {
        TRY(leave_one_model_out_column(&r->of_population, s->population.reference, s->population.n, models,
                                       t));
        r->population.signals = r->of_population;
    }
    if (s->population.view_reference) {
        TRY(leave_one_model_out_column(&r->of_population_views, s->population.view_reference,
                                       s->population.views * s->population.n, models, t));
        r->population.view_signals = r->of_population_views;
    }
    r->all.population = &r->population;
done:
    return status;
}

/* What one target's attacks write, one after the other. */
struct workplace {
    double *scores, *split; /* (n) */
    uint8_t *marks;         /* (n) */
    struct roc_room room;
};

static sotto_status workplace_make(struct workplace *w, size_t n)
{
    sotto_status status = SOTTO_OK;
    NEW(w->scores, n);
    NEW(w->split, n);
    NEW(w->marks, n);
    TRY(roc_room_make(&w->room, n));
done:
    return status;
}

static void workplace_clear(struct workplace *w)
{
    base_free(w->scores);
    base_free(w->split);
    base_free(w->marks);
    roc_room_clear(&w->room);
}

/* Members from the front, the others from the end: the curve sorts them. Returns how many members there are. */
static size_t split_scores(double *split, const double *scores, const uint8_t *trained, size_t n)
{
    size_t members = 0;
    for (size_t i = 0; i < n; i++) {
        split[trained[i] ? members : n - 1 - (i - members)] = scores[i];
        members += trained[i] != 0;
    }
    return members;
}

static sotto_status leave_one_model_out_measure(struct outcome *out, const struct score_attack *attack,
                                                const struct attack_input *in, const struct trials *s,
                                                const uint8_t *trained, struct workplace *w)
{
    sotto_status status = SOTTO_OK;
    struct roc c;
    const size_t n = s->arrays->all.n;
    double args[ATTACK_PARAMS];
    struct attack_output o = {.scores = w->scores, .fallback = w->marks, .threshold = NAN};
    memset(w->marks, 0, n);
    TRY(attack_arguments(args, attack, s->settings->params));
    TRY(attack->run(&o, in, args));
    const size_t members = split_scores(w->split, w->scores, trained, n), count[2] = {n - members, members};
    if (count[0] < 2 || count[1] < 2)
        goto done; /* a model that saw everything or nothing is no target */
    roc_fill(&c, &w->room, w->split, members, w->split + members, n - members);
    out->auc = roc_area(&c);
    for (size_t k = 0; k < s->rates; k++) {
        bool measurable = (double)count[0] >= ceil(1 / s->settings->fpr[k] - 1e-9);
        out->threshold[k] = measurable ? roc_threshold_at_fpr(&c, s->settings->fpr[k]) : NAN;
        out->tpr[k] = measurable ? roc_rates(&c, out->threshold[k], 0.5).tpr.estimate : NAN;
    }
    out->done = true;
done:
    return status;
}

static sotto_status leave_one_model_out_play(void *arg, size_t of_pass, int thread)
{
    (void)thread;
    sotto_status status = SOTTO_OK;
    struct trials *s = arg;
    size_t n = s->arrays->all.n, target = s->first + of_pass;
    struct left_out r = {0};
    struct workplace w = {0};
    TRY(workplace_make(&w, n));
    TRY(left_out_make(&r, s->arrays, s->model[target], s->signals + of_pass * n, s->summary + of_pass * n));
    for (size_t k = 0; k < s->kinds; k++) {
        struct outcome *o = &s->outcome[target * s->kinds + k];
        status = leave_one_model_out_measure(o, s->kind[k], &r.all, s, s->trained + target * n, &w);
        if (status == SOTTO_EINVAL) /* too few models are left for this attack */
            status = SOTTO_OK;
        TRY(status);
        if (strcmp(s->kind[k]->name, s->closer) == 0 && o->done && !isnan(o->threshold[0]))
            for (size_t i = 0; i < n; i++)
                s->flags[target * n + i] = w.scores[i] > o->threshold[0];
    }
done:
    workplace_clear(&w);
    left_out_clear(&r);
    return status;
}

static struct sotto_audit_spread leave_one_model_out_summary(const double *x, size_t n)
{
    double sum = 0, squares = 0, low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < n; i++)
        sum += x[i], low = fmin(low, x[i]), high = fmax(high, x[i]);
    for (size_t i = 0; i < n; i++)
        squares += (x[i] - sum / (double)n) * (x[i] - sum / (double)n);
    return (struct sotto_audit_spread){.mean = n ? sum / (double)n : NAN,
                                       .deviation = n > 1 ? sqrt(squares / (double)(n - 1)) : NAN,
                                       .lowest = low,
                                       .highest = high};
}

/* Over targets that could be attacked, and at rates that their records can measure. */
static size_t leave_one_model_out_collect(double *out, const struct trials *s, size_t kind, size_t rate,
                                          bool threshold)
{
    size_t n = 0;
    for (size_t t = 0; t < s->targets; t++) {
        const struct outcome *o = &s->outcome[t * s->kinds + kind];
        double x = !o->done ? NAN : rate == RATES ? o->auc : threshold ? o->threshold[rate] : o->tpr[rate];
        if (!isnan(x))
            out[n++] = x;
    }
    return n;
}

static double leave_one_model_out_median(double *x, size_t n)
{
    double scratch[TARGETS];
    sort_rising(x, n, scratch);
    if (n % 2 || x[n / 2 - 1] == x[n / 2]) /* equal infinities have no middle */
        return x[n / 2];
    return x[n / 2 - 1] / 2 + x[n / 2] / 2;
}

/* The attacker never saw who is a member of the real target, so all of its records may be scored with the thresholds
 * of the models that stood in for it. */
static sotto_status measure_kind(struct sotto_audit_left_out *out, struct sotto_audit_memory **memory,
                                 const struct trials *s, size_t kind)
{
    sotto_status status = SOTTO_OK;
    double x[TARGETS];
    struct roc c = {0};
    size_t n = leave_one_model_out_collect(x, s, kind, RATES, false), members = s->arrays->member.n;
    const double *scores = s->scores[kind];
    TRY(roc_make(&c, scores, members, scores + members, s->arrays->nonmember.n));
    *out = (struct sotto_audit_left_out){
        .name = s->kind[kind]->name, .targets = n, .auc = leave_one_model_out_summary(x, n)};
    TAKE(memory, out->rates, s->rates);
    for (size_t k = 0; k < s->rates; k++) {
        struct sotto_audit_spread_rate *rate = &out->rates[out->rate_count];
        if ((n = leave_one_model_out_collect(x, s, kind, k, false)) == 0)
            continue;
        rate->fpr = s->settings->fpr[k];
        rate->tpr = leave_one_model_out_summary(x, n);
        leave_one_model_out_collect(x, s, kind, k, true);
        rate->transferred = audit_flagged(&c, leave_one_model_out_median(x, n), s->settings->confidence);
        out->rate_count++;
    }
done:
    roc_clear(&c);
    return status;
}

static sotto_status choose_kinds(struct trials *s, audit_scores_of scores_of, const void *arg)
{
    sotto_status status = SOTTO_OK;
    unsigned have = known_of_references(s->arrays);
    size_t rows = 0;
    while (attack_table[rows])
        rows++;
    NEW(s->kind, rows);
    NEW(s->scores, rows);
    for (size_t i = 0; i < rows; i++) {
        const double *scores = scores_of(arg, attack_table[i]->name);
        if (!scores || attack_table[i]->trains || !attack_applies(attack_table[i], have))
            continue;
        s->kind[s->kinds] = attack_table[i];
        s->scores[s->kinds++] = scores;
    }
    NEW_ROWS(s->outcome, TARGETS, s->kinds + 1);
done:
    return status;
}

/* The runs in which the closer attack had a threshold. */
static sotto_status make_support(struct audit_support *out, struct trials *s)
{
    size_t count = 0, n = s->arrays->all.n;
    for (size_t k = 0; k < s->kinds; k++)
        for (size_t t = 0; strcmp(s->kind[k]->name, s->closer) == 0 && t < s->targets; t++) {
            const struct outcome *o = &s->outcome[t * s->kinds + k];
            if (!o->done || s->rates == 0 || isnan(o->threshold[0]))
                continue;
            memmove(s->flags + count * n, s->flags + t * n, n);
            memmove(s->trained + count * n, s->trained + t * n, n);
            count++;
        }
    return audit_support_make(out, s->flags, s->trained, count, n, s->rates ? s->settings->fpr[0] : NAN);
}

/* All targets, as many in one pass over the references as memory should hold. */
static sotto_status play_all(struct trials *s, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const size_t n = s->arrays->all.n, each = n * (sizeof *s->summary + sizeof *s->signals),
                 most = each ? pass_bytes / each : TARGETS;
    const size_t pass = most < 2 ? 2 : most < s->targets ? most : s->targets;
    NEW_ROWS(s->summary, pass, n);
    NEW_ROWS(s->signals, pass, n);
    for (s->first = 0; s->first < s->targets; s->first += s->pass) {
        struct reference_target target[TARGETS];
        s->pass = s->targets - s->first < pass ? s->targets - s->first : pass;
        for (size_t t = 0; t < s->pass; t++)
            target[t] = (struct reference_target){.model = s->model[s->first + t] + 1,
                                                  .signals = s->signals + t * n,
                                                  .trained = s->trained + (s->first + t) * n,
                                                  .summary = s->summary + t * n};
        TRY(audit_references_pass(target, s->pass, &s->arrays->references, ctx));
        TRY(par_each(s->pass, ctx, leave_one_model_out_play, s));
    }
done:
    base_free(s->summary);
    base_free(s->signals);
    s->summary = NULL, s->signals = NULL;
    return status;
}

sotto_status leave_one_model_out(struct sotto_audit_result *r, struct audit_support *support,
                                 const char *closer, const struct audit_arrays *arrays,
                                 audit_scores_of scores_of, const void *arg,
                                 const struct audit_settings *settings, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_audit_left_out *found;
    size_t models = arrays->all.models;
    struct trials s = {.arrays = arrays, .settings = settings, .closer = closer};
    s.targets = models < TARGETS ? models : TARGETS;
    s.rates = settings->fpr_count < RATES ? settings->fpr_count : RATES;
    for (size_t t = 0; t < s.targets; t++)
        s.model[t] = t * models / s.targets;
    TRY(choose_kinds(&s, scores_of, arg));
    NEW_ROWS(s.flags, arrays->all.n, TARGETS);
    NEW_ROWS(s.trained, arrays->all.n, TARGETS);
    TRY(play_all(&s, ctx));
    TRY(make_support(support, &s));
    TAKE(&r->memory, found, s.kinds);
    for (size_t k = 0; k < s.kinds; k++) {
        TRY(measure_kind(&found[k], &r->memory, &s, k));
        if (strcmp(s.kind[k]->name, closer) != 0)
            continue;
        TAKE(&r->memory, found[k].stability, 1);
        *found[k].stability = audit_stability(support);
    }
    r->left_out = found;
    r->left_out_count = s.kinds;
done:
    base_free(s.kind);
    base_free(s.scores);
    base_free(s.outcome);
    base_free(s.flags);
    base_free(s.trained);
    return status;
}
