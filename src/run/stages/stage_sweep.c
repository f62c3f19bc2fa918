/* Sweeps: what noise costs and what it stops, over many draws of every setting. Nothing here is released and
 * no budget is spent: the noise only measures, and the results are functions of the private data
 * (docs/PRIVACY.md). */
#include "run/stages/run_sweep.h"
#include "sotto/lab/head.h"
#include "sotto/lab/sensitivity.h"

#include "num/beta.h"
#include "par/par.h"
#include "run/stages/run_ceiling.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const attack_names[SWEEP_ATTACKS] = {"loss", "lira", "shadow-network"};

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
    size_t at = offsetof(struct sweep_draw, attacks) + slot * sizeof(struct sweep_scores);
    struct json *j = json_make_object(), *rates = json_make_object();
    json_put(&j, "auc", mean_json(s, at + offsetof(struct sweep_scores, auc)));
    json_put(&j, "balanced_accuracy", mean_json(s, at + offsetof(struct sweep_scores, balanced)));
    for (size_t i = 0; i < s->r->config.rate_count; i++) {
        char key[32];
        snprintf(key, sizeof key, "%.12g", s->r->config.rates[i]);
        json_put(&rates, key, mean_json(s, at + offsetof(struct sweep_scores, tpr) + i * sizeof(double)));
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
    json_put(&j, "accuracy", mean_json(s, offsetof(struct sweep_draw, accuracy)));
    json_put(&j, "utility_loss", mean_json(s, offsetof(struct sweep_draw, utility_loss)));
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
static sotto_status find_scale(struct sweep_setting *out, const struct sweep *s, double delta)
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
    TRY(par_each(s->r->config.draws, s->r->ctx, sweep_measure_draw, s));
    if (shadow->own)
        TRY(sweep_judge_by_network(s));
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
        s->setting =
            (struct sweep_setting){.name = name,
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
    s->network_side =
        s->answers[0].n_member < SWEEP_NETWORK_SIDE ? s->answers[0].n_member : SWEEP_NETWORK_SIDE;
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
    TRY(run_stage_share(&stage, &r->folder, name, sweep_key(r, index, mechanism, norm_names[norms]), false));
    if (stage.reused || stage.busy)
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
