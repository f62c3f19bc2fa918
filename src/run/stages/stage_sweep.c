/* Sweeps: what noise costs and what it stops, over many draws of every setting. Nothing here is released and
 * no budget is spent: the noise only measures, and the results are functions of the private data
 * (docs/PRIVACY.md).
 *
 * The attacker adapts: the shadow models are noised by the same mechanism at the same scale. Thresholds are
 * chosen on the even records and scored on the odd ones. */
#include "run/stages/run_ceiling.h"
#include "run/stages/run_shadow.h"
#include "audit/score/score_attack.h"
#include "audit/measure/metrics.h"
#include "num/beta.h"
#include "par/par.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    ATTACKS = 3,
    NETWORK_SIDE = 1000 /* members, and as many others, that the attack network judges in a draw */
};
enum attack_slot { BY_LOSS, BY_LIRA, BY_NETWORK };
static const char *const attack_names[ATTACKS] = {"loss", "lira", "shadow-network"};

struct setting {
    const char *name;      /* as in the configuration */
    const char *mechanism; /* the law of the noise */
    double epsilon;        /* what it is meant for; NAN: a scale was given */
    double scale;
};

struct result {
    double auc, balanced, tpr[RUN_RATES];
};
struct drawn {
    double accuracy, utility_loss;
    struct result attacks[ATTACKS];
};

/* One setting being measured; draws run in parallel and only write their own slots. */
struct sweep {
    const struct run *r;
    size_t index;
    const struct sotto_head *head;
    const struct run_shadow *shadow;
    struct run_answers *answers; /* one a thread */
    double unprotected;          /* accuracy */
    size_t parameters;
    struct sotto_sensitivity sensitivity; /* entrywise: what the account of a scale rests on */
    struct sotto_sensitivity assumed;     /* what scales are found for: the same, or the paper's norms */
    struct setting setting;
    struct drawn *drawn;   /* (draws) */
    double *network_input; /* (draws, 2 network_side, classes): logits for the attack network */
    int64_t *network_labels;
    size_t network_side;
};

static sotto_status split_curve(struct roc *out, const double *scores, size_t n_member, size_t n,
                                size_t parity)
{
    sotto_status status = SOTTO_OK;
    size_t m = 0, o = 0;
    double *member = base_alloc(n_member + 1, sizeof *member),
           *other = base_alloc(n - n_member + 1, sizeof *other);
    if (!member || !other)
        FAIL(SOTTO_ENOMEM, "sweep: out of memory for %zu scores", n);
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
static sotto_status measure_scores(struct result *out, const double *scores, size_t n_member, size_t n,
                                   const struct run_config *config)
{
    sotto_status status = SOTTO_OK;
    struct roc calibration = {0}, scored = {0};
    struct sotto_estimate area;
    TRY(sotto_auc(&area, scores, n_member, scores + n_member, n - n_member, config->confidence));
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
static sotto_status attack_answers(struct drawn *out, const struct sweep *s, const struct run_answers *a)
{
    sotto_status status = SOTTO_OK;
    size_t n = a->n_member + a->n_nonmember, members = a->n_member * a->classes;
    double *outputs = base_alloc(n * a->classes, sizeof *outputs), *scores = base_alloc(n, sizeof *scores);
    int64_t *labels = base_alloc(n, sizeof *labels);
    if (!outputs || !scores || !labels)
        FAIL(SOTTO_ENOMEM, "sweep: out of memory for %zu records", n);
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
                              .models = s->shadow->heads.models};
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

static sotto_status measure_draw(void *arg, size_t draw, int thread)
{
    sotto_status status = SOTTO_OK;
    const struct sweep *s = arg;
    struct run_answers *a = &s->answers[thread];
    struct drawn *out = &s->drawn[draw];
    struct sotto_head *noisy = NULL;
    size_t count;
    if (context_stopped(s->r->ctx))
        FAIL(SOTTO_ESTOPPED, "stopped while sweeping %s", s->r->config.cases[s->index].name);
    TRY(sotto_head_copy(&noisy, s->head));
    float *parameters = sotto_head_parameters(noisy, &count);
    TRY(sotto_noise_simulate(parameters, count, s->setting.mechanism, s->setting.scale, s->r->config.seed,
                             draw));
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

/* The network is trained once per setting and judges all draws together. */
static sotto_status judge_by_network(const struct sweep *s)
{
    sotto_status status = SOTTO_OK;
    const struct run_config *config = &s->r->config;
    size_t rows = 2 * s->network_side, n = config->draws * rows;
    double *scores = base_alloc(n, sizeof *scores);
    if (!scores)
        FAIL(SOTTO_ENOMEM, "sweep: out of memory for %zu scores", n);
    struct attack_input in = {.outputs = s->network_input,
                              .labels = s->network_labels,
                              .n = n,
                              .classes = s->r->classes,
                              .shadow_outputs = s->shadow->own_outputs,
                              .shadow_labels = s->shadow->own_y,
                              .shadow_trained = s->shadow->own_trained,
                              .shadow_n = s->shadow->own_n};
    TRY(attack_run(scores, attack_find("shadow-network"), &in));
    for (size_t draw = 0; draw < config->draws; draw++)
        TRY(measure_scores(&s->drawn[draw].attacks[BY_NETWORK], scores + draw * rows, s->network_side, rows,
                           config));
done:
    base_free(scores);
    return status;
}

/* Mean over draws with Student's interval: how the noise spreads, for this head and these records. */
static struct json *mean_json(const struct sweep *s, size_t offset)
{
    size_t n = s->r->config.draws;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        sum += *(const double *)((const char *)&s->drawn[i] + offset);
    double mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) {
        double gap = *(const double *)((const char *)&s->drawn[i] + offset) - mean;
        squares += gap * gap;
    }
    if (isnan(mean))
        return json_make_null();
    double reach = n > 1 ? student_quantile(0.5 + s->r->config.confidence / 2, (double)n - 1) *
                               sqrt(squares / (double)(n - 1) / (double)n)
                         : 0;
    struct json *j = json_make_object();
    json_put_real(&j, "mean", mean);
    json_put_real(&j, "lower", mean - reach);
    json_put_real(&j, "upper", mean + reach);
    return j;
}

static struct json *attack_json(const struct sweep *s, size_t slot)
{
    size_t at = offsetof(struct drawn, attacks) + slot * sizeof(struct result);
    struct json *j = json_make_object(), *rates = json_make_object();
    json_put(&j, "auc", mean_json(s, at + offsetof(struct result, auc)));
    json_put(&j, "balanced_accuracy", mean_json(s, at + offsetof(struct result, balanced)));
    for (size_t i = 0; i < s->r->config.rate_count; i++) {
        char key[32];
        snprintf(key, sizeof key, "%.12g", s->r->config.rates[i]);
        json_put(&rates, key, mean_json(s, at + offsetof(struct result, tpr) + i * sizeof(double)));
    }
    json_put(&j, "tpr_at_fpr", rates);
    return j;
}

/* What no attack on one record exceeds, if the sensitivity is a bound. */
static sotto_status put_ceilings(struct json **point, const struct sweep *s)
{
    sotto_status status = SOTTO_OK;
    const struct run_config *config = &s->r->config;
    struct json *rates = json_make_object();
    double ceiling;
    TRY(run_ceiling_accuracy(&ceiling, s->setting.mechanism, s->setting.scale, &s->sensitivity));
    json_put_real(point, "ceiling", ceiling);
    for (size_t i = 0; i < config->rate_count; i++) {
        char key[32];
        snprintf(key, sizeof key, "%.12g", config->rates[i]);
        TRY(run_ceiling_tpr(&ceiling, s->setting.mechanism, s->setting.scale, &s->sensitivity,
                            config->rates[i]));
        json_put_real(&rates, key, ceiling);
    }
    json_put(point, "tpr_ceiling", rates);
    rates = NULL;
done:
    json_free(rates);
    return status;
}

static sotto_status point_json(struct json **out, const struct sweep *s)
{
    sotto_status status = SOTTO_OK;
    struct sotto_account account;
    struct json *j = json_make_object(), *attacks = json_make_object();
    const struct run_sweep *config = &s->r->config.cases[s->index].sweep;
    bool pure = strcmp(s->setting.name, "logistic") == 0 || strcmp(s->setting.name, "laplace") == 0 ||
                strcmp(s->setting.name, "knorm") == 0;
    TRY(sotto_account_release(&account, s->setting.mechanism, s->setting.scale, &s->sensitivity,
                              pure && !isnan(s->setting.epsilon) ? 0 : config->delta, 1, s->r->ctx));
    if (!isnan(s->setting.epsilon)) {
        json_put_real(&j, "epsilon", s->setting.epsilon);
        json_put_boolean(&j, "holds", account.epsilon.upper <= s->setting.epsilon * (1 + 1e-9));
    }
    json_put_real(&j, "implied_epsilon", account.epsilon.upper);
    json_put_real(&j, "delta", account.delta);
    json_put_real(&j, "scale", s->setting.scale);
    json_put_real(&j, "standard_deviation", account.standard_deviation);
    TRY(put_ceilings(&j, s));
    json_put(&j, "accuracy", mean_json(s, offsetof(struct drawn, accuracy)));
    json_put(&j, "utility_loss", mean_json(s, offsetof(struct drawn, utility_loss)));
    json_put(&attacks, attack_names[BY_LOSS], attack_json(s, BY_LOSS));
    if (s->shadow->signals)
        json_put(&attacks, attack_names[BY_LIRA], attack_json(s, BY_LIRA));
    if (s->shadow->own)
        json_put(&attacks, attack_names[BY_NETWORK], attack_json(s, BY_NETWORK));
    json_put(&j, "attacks", attacks);
    *out = j;
    j = NULL;
done:
    json_free(j);
    return status;
}

/* The noise scale of a named setting at a target, for the given sensitivity. */
static sotto_status find_scale(struct setting *out, const struct sweep *s, double delta)
{
    sotto_status status = SOTTO_OK;
    struct sotto_sensitivity by_l1 = s->assumed, by_l2 = s->assumed;
    struct sotto_dp pure = {out->epsilon, 0}, approximate = {out->epsilon, delta};
    by_l1.l2 = NAN;
    by_l2.l1 = NAN;
    if (strcmp(out->name, "logistic") == 0 || strcmp(out->name, "laplace") == 0)
        TRY(sotto_calibrate(&out->scale, out->mechanism, &by_l1, pure, s->r->ctx));
    else if (strcmp(out->name, "logistic-l2") == 0)
        TRY(sotto_calibrate(&out->scale, out->mechanism, &s->assumed, approximate, s->r->ctx));
    else if (strcmp(out->name, "knorm") == 0)
        TRY(sotto_calibrate(&out->scale, out->mechanism, &by_l2, pure, s->r->ctx));
    else if (strcmp(out->name, "gaussian") == 0)
        TRY(sotto_calibrate(&out->scale, out->mechanism, &by_l2, approximate, s->r->ctx));
    else /* the textbook formula, also where it is not private: the account beside it tells */
        out->scale = sqrt(2 * log(1.25 / delta)) * s->assumed.l2 / out->epsilon;
done:
    return status;
}

static const char *law_of(const char *name)
{
    if (strcmp(name, "logistic-l2") == 0)
        return "logistic";
    return strcmp(name, "gaussian-classical") == 0 ? "gaussian" : name;
}

static sotto_status measure_setting(struct json **points, struct sweep *s, uint64_t number)
{
    sotto_status status = SOTTO_OK;
    struct json *point = NULL;
    struct run_shadow *shadow = (struct run_shadow *)s->shadow;
    TRY(run_shadow_ask(shadow, s->r, s->setting.mechanism, s->setting.scale, number));
    TRY(par_each(s->r->config.draws, s->r->ctx, measure_draw, s));
    if (shadow->own)
        TRY(judge_by_network(s));
    TRY(point_json(&point, s));
    json_push(points, point);
done:
    return status;
}

/* All points of one mechanism: its targets, then the given scales. */
static sotto_status sweep_mechanism(struct json **out, struct sweep *s, const char *name)
{
    sotto_status status = SOTTO_OK;
    const struct run_sweep *config = &s->r->config.cases[s->index].sweep;
    struct json *points = json_make_array();
    size_t total = config->epsilon_count + config->scale_count;
    for (size_t i = 0; i < total; i++) {
        bool target = i < config->epsilon_count;
        s->setting = (struct setting){.name = name,
                                      .mechanism = law_of(name),
                                      .epsilon = target ? config->epsilons[i] : NAN,
                                      .scale = target ? NAN : config->scales[i - config->epsilon_count]};
        if (target)
            TRY(find_scale(&s->setting, s, config->delta));
        TRY(measure_setting(&points, s, i));
        context_progress(s->r->ctx, "sweep", i + 1, total, "settings");
    }
    *out = points;
    points = NULL;
done:
    json_free(points);
    return status;
}

static sotto_status open_sweep(struct sweep *s, struct run_shadow *shadow, struct sotto_head **head)
{
    sotto_status status = SOTTO_OK;
    const struct run *r = s->r;
    size_t threads = (size_t)par_threads(r->ctx), parameters;
    struct run_model model;
    char name[RUN_PATH], path[RUN_PATH];
    run_model_name(&model, r, s->index, -1);
    run_model_file(name, &model);
    TRY(run_folder_path(path, &r->folder, name));
    TRY(sotto_head_load(head, path));
    s->head = *head;
    (void)sotto_head_parameters(*head, &parameters);
    NEW(s->answers, threads);
    NEW(s->drawn, r->config.draws);
    for (size_t t = 0; t < threads; t++)
        TRY(run_answers_make(&s->answers[t], r, s->index));
    if (run_has_shadow(r, s->index))
        TRY(run_shadow_load(shadow, r, s->index, &s->answers[0]));
    s->network_side = s->answers[0].n_member < NETWORK_SIDE ? s->answers[0].n_member : NETWORK_SIDE;
    if (s->network_side > s->answers[0].n_nonmember)
        s->network_side = s->answers[0].n_nonmember;
    size_t rows = r->config.draws * 2 * s->network_side;
    NEW(s->network_input, rows * r->classes);
    NEW(s->network_labels, rows);
    s->parameters = parameters;
    snprintf(name, sizeof name, "measure/%s", model.name);
    s->unprotected = json_number(json_member(json_member(run_result(r, name), "accuracy"), "estimate"));
done:
    return status;
}

static void close_sweep(struct sweep *s, struct run_shadow *shadow, struct sotto_head *head)
{
    for (size_t t = 0; s->answers && t < (size_t)par_threads(s->r->ctx); t++)
        run_answers_clear(&s->answers[t]);
    base_free(s->answers);
    base_free(s->drawn);
    base_free(s->network_input);
    base_free(s->network_labels);
    run_shadow_clear(shadow);
    sotto_head_free(head);
}

static struct json *sweep_key(const struct run *r, size_t index, const char *mechanism, const char *norms)
{
    const struct run_case *c = &r->config.cases[index];
    struct json *key = json_make_object();
    char stage[RUN_NAME + 32];
    static const char *const inputs[] = {"head", "sensitivity", "shadow", "measure"};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        snprintf(stage, sizeof stage, "%s/%s", inputs[i], c->name);
        json_put_text(&key, inputs[i], run_stage_hash(&r->folder, stage));
    }
    json_put_text(&key, "mechanism", mechanism);
    json_put_text(&key, "norms", norms);
    json_put(&key, "epsilons", json_make_reals(c->sweep.epsilons, c->sweep.epsilon_count));
    json_put(&key, "scales", json_make_reals(c->sweep.scales, c->sweep.scale_count));
    json_put_real(&key, "delta", c->sweep.delta);
    json_put(&key, "rates", json_make_reals(r->config.rates, r->config.rate_count));
    json_put_integer(&key, "draws", (int64_t)r->config.draws);
    json_put_integer(&key, "seed", (int64_t)r->config.seed);
    return key;
}

/* The paper's own figures have an L1 / L2 ratio that entrywise norms of a head cannot have; sums over tensors
 * can. Scales found for those norms are accounted with the entrywise ones, so the page shows what they really
 * imply. */
static sotto_status find_sensitivities(struct sweep *s, bool paper)
{
    sotto_status status = SOTTO_OK;
    const struct run *r = s->r;
    size_t index = s->index;
    struct sotto_sensitivity_sample sample;
    char name[RUN_PATH], path[RUN_PATH];
    s->sensitivity = s->assumed = (struct sotto_sensitivity){.l1 = NAN, .l2 = NAN};
    if (!run_has_sensitivity(&r->config.cases[index]))
        return SOTTO_OK;
    snprintf(name, sizeof name, "models/%s.sensitivity.json", r->config.cases[index].name);
    TRY(run_folder_path(path, &r->folder, name));
    TRY(sotto_sensitivity_load(&sample, path));
    sotto_sensitivity_of(&s->sensitivity, &sample);
    s->sensitivity.dimension = s->parameters;
    s->assumed = s->sensitivity;
    if (paper)
        s->assumed = (struct sotto_sensitivity){.l1 = sample.paper[SOTTO_PAPER_NORM_PER_TENSOR].one,
                                                .l2 = sample.paper[SOTTO_PAPER_NORM_PER_TENSOR].two,
                                                .dimension = s->parameters};
done:
    return status;
}

static const char *const norm_names[RUN_NORMS] = {"entrywise", "paper"};

void run_sweep_name(char out[RUN_NAME + 80], const struct run_case *c, size_t mechanism, size_t norms)
{
    snprintf(out, RUN_NAME + 80, "sweep/%s/%s/%s", c->name, c->sweep.mechanisms[mechanism],
             norm_names[norms]);
}

static sotto_status sweep_stage(struct run *r, size_t index, size_t number, size_t norms)
{
    sotto_status status = SOTTO_OK;
    struct run_stage stage;
    struct run_shadow shadow = {0};
    struct sweep s = {.r = r, .index = index, .shadow = &shadow};
    struct sotto_head *head = NULL;
    struct json *result = NULL, *points = NULL;
    char name[RUN_NAME + 80];
    const char *mechanism = r->config.cases[index].sweep.mechanisms[number];
    run_sweep_name(name, &r->config.cases[index], number, norms);
    TRY(run_stage_begin(&stage, &r->folder, name, sweep_key(r, index, mechanism, norm_names[norms])));
    if (stage.reused)
        goto done;
    TRY(open_sweep(&s, &shadow, &head));
    TRY(find_sensitivities(&s, norms == 1));
    TRY(sweep_mechanism(&points, &s, mechanism));
    result = json_make_object();
    json_put_text(&result, "case", r->config.cases[index].name);
    json_put_text(&result, "mechanism", mechanism);
    json_put_text(&result, "norms", norm_names[norms]);
    json_put_real(&result, "l1", s.assumed.l1);
    json_put_real(&result, "l2", s.assumed.l2);
    json_put_integer(&result, "draws", (int64_t)r->config.draws);
    json_put(&result, "points", points);
    points = NULL;
    struct json *kept = result;
    result = NULL;
    TRY(run_stage_end(&stage, &r->folder, NULL, kept));
done:
    close_sweep(&s, &shadow, head);
    json_free(points);
    json_free(result);
    return status;
}

sotto_status run_stage_sweep(struct run *r, size_t index)
{
    sotto_status status = SOTTO_OK;
    const struct run_sweep *config = &r->config.cases[index].sweep;
    if (config->epsilon_count + config->scale_count == 0 || r->config.draws == 0)
        return SOTTO_OK;
    bool paper = config->paper_norms && !run_is_convex(&r->config.cases[index]);
    for (size_t i = 0; i < config->mechanism_count; i++)
        for (size_t norms = 0; norms < (paper ? RUN_NORMS : 1); norms++)
            TRY(sweep_stage(r, index, i, norms));
done:
    return status;
}
