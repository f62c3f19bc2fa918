/* What one head gives away and how useful it is: membership attacks on its answers, accuracy with an
 * interval, and for a noise setting the spread over many draws (drawn to measure, never released). */
#include "audit/measure/metrics.h"
#include "dp/release/noise_simulate.h"
#include "run/stages/run_canaries.h"
#include "run/stages/run_shadow.h"
#include "sotto/lab/head.h"

#include "audit/audit_document.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double stage_measure_largest(const float *z, size_t k)
{
    double top = z[0];
    for (size_t j = 1; j < k; j++)
        top = z[j] > top ? z[j] : top;
    return top;
}

static void loss_scores(double *out, const float *z, const int64_t *y, size_t n, size_t k)
{
    for (size_t i = 0; i < n; i++) {
        const float *row = z + i * k;
        double top = stage_measure_largest(row, k), sum = 0;
        for (size_t j = 0; j < k; j++)
            sum += exp(row[j] - top);
        out[i] = row[y[i]] - top - log(sum);
    }
}

struct spread {
    double sum, lowest, highest;
    size_t count;
};

static void spread_add(struct spread *s, double x)
{
    s->lowest = s->count == 0 || x < s->lowest ? x : s->lowest;
    s->highest = s->count == 0 || x > s->highest ? x : s->highest;
    s->sum += x;
    s->count++;
}

static struct json *spread_json(const struct spread *s, const char *count_name)
{
    struct json *j = json_make_object();
    json_put_integer(&j, count_name, (int64_t)s->count);
    json_put_real(&j, "mean", s->sum / (double)s->count);
    json_put_real(&j, "lowest", s->lowest);
    json_put_real(&j, "highest", s->highest);
    return j;
}

/* Utility and loss-attack AUC over many draws of the same noise law on the unprotected head. */
static sotto_status measure_draws(struct spread *accuracy, struct spread *auc, struct run_answers *a,
                                  const struct run *r, const struct run_model *m, double scale)
{
    sotto_status status = SOTTO_OK;
    struct sotto_head *head = NULL, *noisy = NULL;
    double *member = NULL, *nonmember = NULL;
    struct run_model plain;
    char name[RUN_PATH], path[RUN_PATH];
    const char *mechanism = r->config.cases[m->index].protections[m->protection].mechanism;
    NEW(member, a->n_member);
    NEW(nonmember, a->n_nonmember);
    run_model_name(&plain, r, m->index, -1);
    run_model_file(name, &plain);
    TRY(run_folder_path(path, &r->folder, name));
    TRY(sotto_head_load(&head, path));
    for (size_t draw = 0; draw < r->config.draws; draw++) {
        size_t count;
        struct sotto_estimate estimate;
        sotto_head_free(noisy);
        noisy = NULL;
        TRY(sotto_head_copy(&noisy, head));
        float *parameters = sotto_head_parameters(noisy, &count);
        TRY(noise_simulate(parameters, count, mechanism, scale, r->config.seed, draw));
        TRY(run_answers_ask(a, noisy));
        loss_scores(member, a->member, a->member_y, a->n_member, a->classes);
        loss_scores(nonmember, a->nonmember, a->nonmember_y, a->n_nonmember, a->classes);
        TRY(estimate_auc(&estimate, member, a->n_member, nonmember, a->n_nonmember, r->config.confidence));
        spread_add(auc, estimate.estimate);
        spread_add(accuracy,
                   (double)run_count_right(a->nonmember, a->nonmember_y, a->n_nonmember, a->classes) /
                       (double)a->n_nonmember);
        context_progress(r->ctx, "evaluate", draw + 1, r->config.draws, "draws");
        if (context_stopped(r->ctx))
            FAIL(SOTTO_ESTOPPED, "stopped while measuring %s", m->name);
    }
done:
    base_free(member);
    base_free(nonmember);
    sotto_head_free(head);
    sotto_head_free(noisy);
    return status;
}

/* With the attacker's models, if the case has any: the attacks that need them join the named ones.
 * compare_records: are members and non-members alike, going by their embeddings? */
static sotto_status stage_measure_audit(struct json **out, const struct run *r, const struct run_answers *a,
                                        const struct run_shadow *shadow, bool compare_records)
{
    sotto_status status = SOTTO_OK;
    struct sotto_audit_result found = {0};
    static const char *const online[] = {"lira", "lira-pooled", "lira-offline", "rmia"};
    const char *names[RUN_ATTACKS + 6] = {NULL};
    size_t count = 0;
    for (; count < r->config.attack_count; count++)
        names[count] = r->config.attacks[count];
    for (size_t i = 0; shadow->signals && i < sizeof online / sizeof *online; i++)
        names[count++] = online[i];
    if (shadow->own)
        names[count++] = "shadow-network";
    struct sotto_audit_input in = {.member = a->member,
                                   .nonmember = a->nonmember,
                                   .member_labels = a->member_y,
                                   .nonmember_labels = a->nonmember_y,
                                   .n_member = a->n_member,
                                   .n_nonmember = a->n_nonmember,
                                   .classes = a->classes,
                                   .shadow = shadow->own_outputs,
                                   .shadow_labels = shadow->own_y,
                                   .shadow_trained = shadow->own_trained,
                                   .n_shadow = shadow->own_n};
    if (compare_records) {
        in.member_features = a->member_x;
        in.nonmember_features = a->nonmember_x;
        in.feature_count = a->width;
    }
    if (shadow->signals) {
        size_t of_members = a->n_member * shadow->heads.models;
        in.reference_models = shadow->heads.models;
        in.member_reference = shadow->signals;
        in.nonmember_reference = shadow->signals + of_members;
        in.member_trained = shadow->trained;
        in.nonmember_trained = shadow->trained + of_members;
    }
    struct sotto_audit_options options = {.names = names,
                                          .fpr = r->config.rates,
                                          .fpr_count = r->config.rate_count,
                                          .confidence = r->config.confidence,
                                          .seed = sotto_given_seed(r->config.seed),
                                          .most_vulnerable = SOTTO_NONE};
    TRY(sotto_audit(&found, &in, &options, r->ctx));
    *out = audit_encode(&found);
    if (!*out)
        FAIL(SOTTO_ENOMEM, "audit: out of memory for the result");
done:
    sotto_audit_result_free(&found);
    return status;
}

static struct json *measure_key(const struct run *r, const struct run_model *m)
{
    struct json *key = json_make_object(), *names = json_make_array();
    char stage[RUN_NAME + 32];
    snprintf(stage, sizeof stage, "%s/%s", m->protection < 0 ? "head" : "protect", m->name);
    json_put_text(&key, "model", run_stage_hash(&r->folder, stage));
    for (size_t i = 0; i < r->config.attack_count; i++)
        json_push(&names, json_make_text(r->config.attacks[i]));
    json_put(&key, "attacks", names);
    json_put(&key, "rates", json_make_reals(r->config.rates, r->config.rate_count));
    json_put_real(&key, "confidence", r->config.confidence);
    json_put_integer(&key, "draws", (int64_t)r->config.draws);
    json_put_integer(&key, "seed", (int64_t)r->config.seed);
    snprintf(stage, sizeof stage, "shadow/%s", r->config.cases[m->index].name);
    json_put_text(&key, "shadow", run_stage_hash(&r->folder, stage));
    return key;
}

/* The attacker answers a noisy head with shadows of the same mechanism and scale; one that was trained privately
 * is of another recipe than the case's shadows, which would make them look weaker than they are. */
static sotto_status ask_shadow(struct run_shadow *shadow, const struct run *r, const struct run_model *m,
                               const struct run_answers *a)
{
    sotto_status status = SOTTO_OK;
    const char *mechanism = NULL;
    double scale = 0;
    if (!run_has_shadow(r, m->index) || run_is_trained(r, m))
        return SOTTO_OK;
    if (m->protection >= 0) {
        char protect[RUN_NAME + 32];
        snprintf(protect, sizeof protect, "protect/%s", m->name);
        mechanism = r->config.cases[m->index].protections[m->protection].mechanism;
        scale = json_number(json_member(run_result(r, protect), "scale"));
    }
    TRY(run_shadow_load(shadow, r, m->index, a));
    TRY(run_shadow_ask(shadow, r, mechanism, scale, 0));
done:
    return status;
}

static struct json *estimate_json(const struct sotto_estimate *e, size_t n)
{
    struct json *j = json_make_object();
    json_put_real(&j, "estimate", e->estimate);
    json_put_real(&j, "lower", e->lower);
    json_put_real(&j, "upper", e->upper);
    json_put_integer(&j, "n", (int64_t)n);
    return j;
}

/* On held-out records; classes without any are left out. */
static sotto_status class_accuracies(struct json **out, const struct run_answers *a, double confidence)
{
    sotto_status status = SOTTO_OK;
    struct json *list = json_make_array();
    for (size_t c = 0; c < a->classes; c++) {
        struct sotto_estimate accuracy;
        size_t n = 0, right = 0;
        for (size_t i = 0; i < a->n_nonmember; i++)
            if ((size_t)a->nonmember_y[i] == c) {
                n++;
                right += run_count_right(a->nonmember + i * a->classes, a->nonmember_y + i, 1, a->classes);
            }
        if (n == 0)
            continue;
        TRY(estimate_proportion(&accuracy, right, n, confidence));
        struct json *one = estimate_json(&accuracy, n);
        json_put_integer(&one, "class", (int64_t)c);
        json_push(&list, one);
    }
    *out = list;
    list = NULL;
done:
    json_free(list);
    return status;
}

/* Its answers on members and non-members. */
static sotto_status ask_model(struct run_answers *a, const struct run *r, const struct run_model *m)
{
    sotto_status status = SOTTO_OK;
    struct sotto_head *head = NULL;
    struct sotto_network *network = NULL;
    char name[RUN_PATH], path[RUN_PATH];
    run_model_file(name, m);
    TRY(run_folder_path(path, &r->folder, name));
    if (run_network_of(r, m)) {
        TRY(sotto_network_load(&network, path));
        TRY(run_answers_ask_network(a, r, m->index, network));
    } else {
        TRY(sotto_head_load(&head, path));
        TRY(run_answers_ask(a, head));
    }
done:
    sotto_head_free(head);
    sotto_network_free(network);
    return status;
}

/* Records that a canary displaced did not train the model. */
static sotto_status leave_out_displaced(struct run_answers *a, const struct run *r, const struct run_model *m)
{
    sotto_status status = SOTTO_OK;
    bool *displaced = NULL;
    size_t kept = 0;
    if (!run_has_canaries(r, m))
        return SOTTO_OK;
    NEW(displaced, a->n_member);
    NEW(a->kept_y, a->n_member);
    TRY(run_canaries_displaced(displaced, r, m));
    for (size_t i = 0; i < a->n_member; i++) {
        if (displaced[i])
            continue;
        memmove(a->member + kept * a->classes, a->member + i * a->classes, a->classes * sizeof *a->member);
        a->kept_y[kept++] = a->member_y[i];
    }
    a->n_member = kept;
    a->member_y = a->kept_y;
done:
    base_free(displaced);
    return status;
}

sotto_status run_stage_measure(struct run *r, const struct run_model *m)
{
    sotto_status status = SOTTO_OK;
    struct run_stage stage;
    struct run_answers a = {0};
    struct run_shadow shadow = {0};
    struct json *result = NULL, *attacks = NULL;
    char path[RUN_PATH], stage_name[RUN_NAME + 32], output[RUN_NAME + 64];
    snprintf(stage_name, sizeof stage_name, "measure/%s", m->name);
    TRY(run_stage_share(&stage, &r->folder, stage_name, measure_key(r, m), false));
    if (stage.reused || stage.busy)
        goto done;
    TRY(run_answers_make(&a, r, m->index));
    TRY(ask_model(&a, r, m));
    TRY(leave_out_displaced(&a, r, m));
    TRY(ask_shadow(&shadow, r, m, &a));
    /* Once for each model without noise, and only where the encoder never saw the private records: a
     * fine-tuned one may tell members apart, which is a leak and no difference of the sets. */
    TRY(stage_measure_audit(&attacks, r, &a, &shadow, m->protection < 0 && !a.own_member.data));
    snprintf(output, sizeof output, "attacks/%s.json", m->name);
    TRY(run_folder_path(path, &r->folder, output));
    TRY(json_write_file(path, attacks, JSON_PRETTY));

    size_t right = run_count_right(a.nonmember, a.nonmember_y, a.n_nonmember, a.classes);
    size_t right_member = run_count_right(a.member, a.member_y, a.n_member, a.classes);
    struct sotto_estimate accuracy;
    TRY(estimate_proportion(&accuracy, right, a.n_nonmember, r->config.confidence));
    result = json_make_object();
    struct json *classes = NULL;
    TRY(class_accuracies(&classes, &a, r->config.confidence));
    json_put(&result, "accuracy", estimate_json(&accuracy, a.n_nonmember));
    json_put(&result, "classes", classes);
    json_put_real(&result, "train_accuracy", (double)right_member / (double)a.n_member);
    if (m->protection >= 0 && !run_is_trained(r, m) && r->config.draws > 0) {
        struct spread draws_accuracy = {0}, draws_auc = {0};
        char protect[RUN_NAME + 32];
        snprintf(protect, sizeof protect, "protect/%s", m->name);
        double scale = json_number(json_member(run_result(r, protect), "scale"));
        TRY(measure_draws(&draws_accuracy, &draws_auc, &a, r, m, scale));
        json_put(&result, "draws_accuracy", spread_json(&draws_accuracy, "count"));
        json_put(&result, "draws_auc", spread_json(&draws_auc, "draws"));
    }
    struct json *kept = result;
    result = NULL;
    TRY(run_stage_end(&stage, &r->folder, (const char *const[]){output, NULL}, kept));
done:
    json_free(result);
    json_free(attacks);
    run_answers_clear(&a);
    run_shadow_clear(&shadow);
    return status;
}
