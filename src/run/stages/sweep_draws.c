/* The attacks on the draws of a setting. The attacker adapts: the shadow models are noised by the same mechanism at the same
 * scale. Thresholds are chosen on the even records and scored on the odd ones. */
#include "dp/release/noise_simulate.h"
#include "run/stages/run_sweep.h"
#include "sotto/lab/head.h"

#include "audit/measure/metrics.h"
#include "audit/score/score_attack.h"

#include <math.h>
#include <string.h>

static sotto_status split_curve(struct roc *out, const double *scores, size_t n_member, size_t n,
                                size_t parity)
{
    sotto_status status = SOTTO_OK;
    size_t m = 0, o = 0;
    double *member = NULL, *other = NULL;
    NEW(member, n_member + 1);
    NEW(other, n - n_member + 1);
    for (size_t i = 0; i < n; i++) {
        if (i < n_member && i % 2 == parity)
            member[m++] = scores[i];
        else if (i >= n_member && (i - n_member) % 2 == parity)
            other[o++] = scores[i];
    }
    TRY(roc_make(out, member, m, other, o));
done:
    base_free(member);
    base_free(other);
    return status;
}

/* scores: members first. Rates that the non-members cannot resolve are NAN. */
static sotto_status measure_scores(struct sweep_scores *out, const double *scores, size_t n_member, size_t n,
                                   const struct run_config *config)
{
    sotto_status status = SOTTO_OK;
    struct roc calibration = {0}, scored = {0};
    struct sotto_estimate area;
    TRY(estimate_auc(&area, scores, n_member, scores + n_member, n - n_member, config->confidence));
    TRY(split_curve(&calibration, scores, n_member, n, 0));
    TRY(split_curve(&scored, scores, n_member, n, 1));
    out->auc = area.estimate;
    out->balanced = roc_balanced(&scored, roc_threshold_balanced(&calibration), config->confidence).estimate;
    for (size_t i = 0; i < config->rate_count; i++) {
        double threshold = roc_threshold_at_fpr(&calibration, config->rates[i]);
        bool resolved = (double)(n - n_member) * config->rates[i] >= 1;
        out->tpr[i] = resolved ? roc_rates(&scored, threshold, config->confidence).tpr.estimate : NAN;
    }
done:
    roc_clear(&calibration);
    roc_clear(&scored);
    return status;
}

/* Loss and LiRA see every record of the draw. */
static sotto_status attack_answers(struct sweep_draw *out, const struct sweep *s, const struct run_answers *a)
{
    sotto_status status = SOTTO_OK;
    size_t n = a->n_member + a->n_nonmember, members = a->n_member * a->classes;
    double *outputs = NULL, *scores = NULL;
    int64_t *labels = NULL;
    const struct sotto_context quiet = context_quiet(s->r->ctx, 1);
    NEW(outputs, n * a->classes);
    NEW(scores, n);
    NEW(labels, n);
    for (size_t i = 0; i < n * a->classes; i++)
        outputs[i] = i < members ? a->member[i] : a->nonmember[i - members];
    memcpy(labels, a->member_y, a->n_member * sizeof *labels);
    memcpy(labels + a->n_member, a->nonmember_y, a->n_nonmember * sizeof *labels);
    struct attack_input in = {.outputs = outputs,
                              .labels = labels,
                              .n = n,
                              .classes = a->classes,
                              .reference = s->shadow->signals,
                              .trained = s->shadow->trained,
                              .models = s->shadow->heads.models,
                              .ctx = &quiet};
    TRY(attack_run(scores, attack_find("loss"), &in));
    TRY(measure_scores(&out->attacks[BY_LOSS], scores, a->n_member, n, &s->r->config));
    if (s->shadow->signals) {
        TRY(attack_run(scores, attack_find("lira"), &in));
        TRY(measure_scores(&out->attacks[BY_LIRA], scores, a->n_member, n, &s->r->config));
    }
done:
    base_free(outputs);
    base_free(scores);
    base_free(labels);
    return status;
}

static void keep_for_network(const struct sweep *s, const struct run_answers *a, size_t draw)
{
    size_t side = s->network_side, width = a->classes;
    double *out = s->network_input + draw * 2 * side * width;
    int64_t *y = s->network_labels + draw * 2 * side;
    for (size_t i = 0; i < side * width; i++) {
        out[i] = a->member[i];
        out[side * width + i] = a->nonmember[i];
    }
    memcpy(y, a->member_y, side * sizeof *y);
    memcpy(y + side, a->nonmember_y, side * sizeof *y);
}

sotto_status sweep_measure_draw(void *arg, size_t draw, int thread)
{
    sotto_status status = SOTTO_OK;
    const struct sweep *s = arg;
    struct run_answers *a = &s->answers[thread];
    struct sweep_draw *out = &s->drawn[draw];
    struct sotto_head *noisy = NULL;
    size_t count;
    if (context_stopped(s->r->ctx))
        FAIL(SOTTO_ESTOPPED, "stopped while sweeping %s", s->r->config.cases[s->index].name);
    TRY(sotto_head_copy(&noisy, s->head));
    float *parameters = sotto_head_parameters(noisy, &count);
    TRY(noise_simulate(parameters, count, s->setting.mechanism, s->setting.scale, s->r->config.seed, draw));
    TRY(run_answers_ask(a, noisy));
    out->accuracy = (double)run_count_right(a->nonmember, a->nonmember_y, a->n_nonmember, a->classes) /
                    (double)a->n_nonmember;
    out->utility_loss = run_utility_loss(out->accuracy, s->unprotected);
    TRY(attack_answers(out, s, a));
    if (s->shadow->own)
        keep_for_network(s, a, draw);
done:
    sotto_head_free(noisy);
    return status;
}

sotto_status sweep_judge_by_network(const struct sweep *s)
{
    sotto_status status = SOTTO_OK;
    const struct run_config *config = &s->r->config;
    size_t rows = 2 * s->network_side, n = config->draws * rows;
    double *scores = NULL;
    const struct sotto_context quiet = context_quiet(s->r->ctx, 1);
    NEW(scores, n);
    struct attack_input in = {.outputs = s->network_input,
                              .labels = s->network_labels,
                              .n = n,
                              .classes = s->r->classes,
                              .shadow_outputs = s->shadow->own_outputs,
                              .shadow_labels = s->shadow->own_y,
                              .shadow_trained = s->shadow->own_trained,
                              .shadow_n = s->shadow->own_n,
                              .ctx = &quiet};
    TRY(attack_run(scores, attack_find("shadow-network"), &in));
    for (size_t draw = 0; draw < config->draws; draw++)
        TRY(measure_scores(&s->drawn[draw].attacks[BY_NETWORK], scores + draw * rows, s->network_side, rows,
                           config));
done:
    base_free(scores);
    return status;
}
