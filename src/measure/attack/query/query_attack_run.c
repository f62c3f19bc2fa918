/* The life of an attack on a model: check what was given, ask the target about the records, let the attack
 * score them, and leave the statistics to the audit. */
#include "attack/query/query_run.h"

#include "attack/query/record_order.h"
#include "attack/query/shadow_recipe.h"
#include "attack/target/target.h"
#include "audit/audit_document.h"
#include "options/option_tables.h"
#include "options/option_values.h"
#include "sotto/lab/query.h"
#include "sotto/option.h"
#include "train/network/network.h"
#include "base/choice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void sotto_attack_defaults(struct sotto_attack_options *o)
{
    GIVEN_OR(, o);
    *o = (struct sotto_attack_options){0};
    options_defaults(o, options_attack);
}

static void query_attack_run_clear(struct query_work *w)
{
    base_free(w->x);
    base_free(w->answers);
    base_free(w->y);
    base_free(w->posteriors);
    base_free(w->order);
    base_free(w->known_x);
    base_free(w->known_y);
    base_free(w->known_member);
}

static sotto_status check_input(const struct query_attack *a, const struct sotto_attack_input *in)
{
    sotto_status status = SOTTO_OK;
    size_t d = in->target->inputs, classes = in->target->classes;
    REQUIRE(in->member.n > 0 && in->nonmember.n > 0,
            "attack: %zu members and %zu non-members; both must be > 0", in->member.n, in->nonmember.n);
    TRY(target_check_records(&in->member, d, classes, "members"));
    TRY(target_check_records(&in->nonmember, d, classes, "non-members"));
    TRY(target_check_records(&in->attacker, d, classes, "attacker's records"));
    TRY(target_check_records(&in->other, in->other_inputs, in->other_classes, "other set"));
    TRY(target_check_records(&in->known_member, d, classes, "known members"));
    TRY(target_check_records(&in->known_nonmember, d, classes, "known non-members"));
    REQUIRE((in->known_member.n > 0) == (in->known_nonmember.n > 0),
            "attack: %zu known members and %zu known non-members; expected some of both, or none",
            in->known_member.n, in->known_nonmember.n);
    if (in->known_member.n > 0 && !(a->needs & QUERY_KNOWN_IF_ANY))
        FAIL(SOTTO_EUSAGE, "attack: %s does not learn from known members; expected white-box", a->name);
    if ((a->needs & QUERY_WEIGHTS) && !in->target->head && !in->target->network)
        FAIL(SOTTO_EUSAGE,
             "attack: %s needs the weights of the model, but this target only answers queries; give "
             "{target=FILE}",
             a->name);
    if ((a->needs & QUERY_NETWORK) && !in->target->network)
        FAIL(SOTTO_EUSAGE, "attack: %s reads layers of a whole network (sotto train); this target has none",
             a->name);
    if ((a->needs & QUERY_ATTACKER) && in->attacker.n == 0)
        FAIL(SOTTO_EUSAGE,
             "attack: %s needs records of the attacker; give {attacker.x|attacker-features|attacker} and "
             "{attacker.y|attacker-labels|attacker}",
             a->name);
    if ((a->needs & QUERY_OTHER) && in->other.n == 0)
        FAIL(SOTTO_EUSAGE,
             "attack: %s needs records of another data set; give {other.x|other-features|other} and "
             "{other.y|other-labels|other}",
             a->name);
done:
    return status;
}

/* What the target decides about the records, as posteriors of 1. */
static sotto_status ask_decisions(struct query_work *w, struct sotto_target *t, size_t n)
{
    sotto_status status = SOTTO_OK;
    int64_t *label = NULL;
    NEW(label, n);
    TRY(target_labels(t, label, w->x, n));
    for (size_t i = 0; i < n; i++)
        w->posteriors[i * t->classes + (size_t)label[i]] = 1;
done:
    base_free(label);
    return status;
}

static sotto_status query_attack_run_shuffle(struct query_work *w, size_t n, size_t d, uint64_t seed)
{
    sotto_status status = SOTTO_OK;
    TRY(record_order_draw(&w->order, n, seed));
    TRY(record_order_apply(w->x, w->order, n, d * sizeof *w->x));
    TRY(record_order_apply(w->y, w->order, n, sizeof *w->y));
done:
    return status;
}

/* The records, their answers and scores as they were given, for the evaluation. */
static sotto_status restore_order(double *scores, struct query_result *result, struct query_work *w,
                                  const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    const size_t n = in->records.n;
    if (!w->order)
        goto done;
    TRY(record_order_undo(w->x, w->order, n, in->records.d * sizeof *w->x));
    TRY(record_order_undo(w->y, w->order, n, sizeof *w->y));
    TRY(record_order_undo(w->posteriors, w->order, n, in->records.classes * sizeof *w->posteriors));
    TRY(record_order_undo(scores, w->order, n, sizeof *scores));
    if (result->signals) {
        TRY(record_order_undo(result->signals, w->order, n, result->models * sizeof *result->signals));
        TRY(record_order_undo(result->trained, w->order, n, result->models));
    }
done:
    return status;
}

/* Members first, then non-members, unless they are shuffled: one table, and the target's answers on it. */
static sotto_status query_attack_run_gather(struct query_work *w, const struct query_attack *a,
                                            const struct sotto_attack_input *in,
                                            const struct sotto_attack_options *o)
{
    sotto_status status = SOTTO_OK;
    struct sotto_target *t = in->target;
    size_t m = in->member.n, n = m + in->nonmember.n, d = t->inputs, k = t->classes, cells;
    REQUIRE(size_multiply(&cells, n, d > k ? d : k), "attack: %zu records do not fit in memory", n);
    NEW(w->x, n * d);
    NEW(w->y, n);
    NEW(w->answers, n * k);
    NEW(w->posteriors, n * k);
    memcpy(w->x, in->member.x, m * d * sizeof *w->x);
    memcpy(w->x + m * d, in->nonmember.x, (n - m) * d * sizeof *w->x);
    memcpy(w->y, in->member.y, m * sizeof *w->y);
    memcpy(w->y + m, in->nonmember.y, (n - m) * sizeof *w->y);
    if (o->shuffle)
        TRY(query_attack_run_shuffle(w, n, d, o->seed));
    if (a->needs & QUERY_POSTERIORS) {
        TRY(target_query(t, w->answers, w->x, n));
        for (size_t i = 0; i < n * k; i++)
            w->posteriors[i] = (double)w->answers[i];
    } else if (a->needs & QUERY_DECISIONS) {
        TRY(ask_decisions(w, t, n));
    }
done:
    return status;
}

/* Known members, then known others. */
static sotto_status gather_known(struct query_input *out, struct query_work *w,
                                 const struct sotto_attack_input *in)
{
    sotto_status status = SOTTO_OK;
    size_t m = in->known_member.n, n = m + in->known_nonmember.n, d = in->target->inputs;
    NEW_ROWS(w->known_x, n, d);
    NEW(w->known_y, n);
    NEW(w->known_member, n);
    for (size_t i = 0; i < n; i++) {
        const struct sotto_records *r = i < m ? &in->known_member : &in->known_nonmember;
        size_t row = i < m ? i : i - m;
        memcpy(w->known_x + i * d, r->x + row * d, d * sizeof *w->known_x);
        w->known_y[i] = r->y[row];
        w->known_member[i] = i < m;
    }
    out->known = (struct head_data){w->known_x, w->known_y, n, d, in->target->classes};
    out->known_member = w->known_member;
done:
    return status;
}

/* A network knows how its rows are images. */
static void take_image_shape(struct sotto_attack_options *o, const struct sotto_network *n)
{
    if (n && n->record.height > 1 && n->record.width > 1) {
        o->channels = n->record.channels;
        o->height = n->record.height;
        o->width = n->record.width;
    }
}

static sotto_status query_attack_run_find(const struct query_attack **out, const char *name)
{
    sotto_status status = SOTTO_OK;
    char known[512];
    size_t used = 0;
    *out = name ? query_attack_find(name) : NULL;
    for (size_t i = 0; query_attack_table[i] && used < sizeof known - 64; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                                 query_attack_table[i]->name);
    if (!*out)
        TRY(choice_unknown(SOTTO_EUSAGE, "attack", name ? name : "", known));
done:
    return status;
}

static sotto_status check_options(const struct query_attack *a, const struct sotto_attack_options *o)
{
    sotto_status status = SOTTO_OK;
    if (o->snapshots && !a->snapshots)
        FAIL(SOTTO_EUSAGE,
             "attack: %s reads no intermediate models; {snapshots} is for loss-trajectory and "
             "metric-trajectory",
             a->name);
    if (o->explain && !(a->needs & QUERY_NETWORK))
        FAIL(SOTTO_EUSAGE, "attack: %s explains nothing; {explain} is for stolen-memories-layers", a->name);
    if (o->shuffle && (a->needs & QUERY_WEIGHTS))
        FAIL(SOTTO_EUSAGE, "attack: %s reads weights and hides no queries; omit {shuffle}", a->name);
    if (o->poison && !(a->needs & QUERY_HALVES))
        FAIL(SOTTO_EUSAGE, "attack: %s poisons nothing; {poison} is for lira and rmia", a->name);
    if (o->audit.memorisation && (!(a->needs & QUERY_HALVES) || o->views > 1))
        FAIL(SOTTO_EUSAGE, "attack: memorisation is measured by the shadow models of lira and rmia, of one "
                           "view of each record");
    if (o->poison && o->shuffle)
        FAIL(SOTTO_EUSAGE, "attack: the labels of {poison} go by the order of the records; omit {shuffle}");
    if ((o->worker || o->plan) && !o->cache)
        FAIL(SOTTO_EUSAGE,
             "attack: a worker needs the folder of finished shadow models that all share (cache)");
    if ((o->worker || o->plan) && o->shards > 1)
        FAIL(SOTTO_EUSAGE, "attack: a worker takes any open shadow model; give shards of 1, or no worker");
    if ((o->worker || o->plan) && a->default_shadows == 0)
        FAIL(SOTTO_EUSAGE, "attack: %s trains no shadow models, so a worker has nothing to do", a->name);
    REQUIRE(o->shards > 0 && o->shard < o->shards, "attack: shard %zu of %zu; expected 0 .. shards - 1",
            o->shard, o->shards);
done:
    return status;
}

/* All that the attack reads. */
static sotto_status gather_inputs(struct query_input *in, struct query_work *w, const struct query_attack *a,
                                  const struct sotto_attack_input *given,
                                  const struct sotto_attack_options *o)
{
    sotto_status status = SOTTO_OK;
    const size_t n = given->member.n + given->nonmember.n, d = given->target->inputs,
                 k = given->target->classes;
    TRY(query_attack_run_gather(w, a, given, o));
    TRY(gather_known(in, w, given));
    in->records = (struct head_data){w->x, w->y, n, d, k};
    in->posteriors = a->needs & (QUERY_POSTERIORS | QUERY_DECISIONS) ? w->posteriors : NULL;
    in->attacker = (struct head_data){given->attacker.x, given->attacker.y, given->attacker.n, d, k};
    in->other = (struct head_data){given->other.x, given->other.y, given->other.n, given->other_inputs,
                                   given->other_classes};
done:
    return status;
}

sotto_status sotto_attack(struct sotto_audit_result *out, double *scores, int *finished,
                          const struct sotto_attack_input *in, const struct sotto_attack_options *options,
                          const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, scores, finished, in);
    REQUIRE_GIVEN(in->target);
    sotto_status status = SOTTO_OK;
    const struct query_attack *a;
    struct query_work w = {0};
    struct query_result result = {.threshold = NAN};
    struct sotto_audit_result r = {0};
    double *fresh = NULL;
    const size_t n = in->member.n + in->nonmember.n;
    const size_t repeats_before = in->target->repeats; /* the target is the caller's */
    struct sotto_attack_options o;
    struct query_input query = {.target = in->target, .options = &o, .ctx = ctx};
    TRY(sotto_options_resolve(&o, options, options_attack));
    TRY(audit_of_attack(&o.audit, &o.audit));
    TRY(sotto_options_check(&o, options_attack, "layers|explain"));
    TRY(shadow_recipe_apply(&o, &w.recipe, &w.network, in->target));
    if (o.channels == 0)
        take_image_shape(&o, in->target->network);
    TRY(query_attack_run_find(&a, o.name));
    TRY(check_options(a, &o));
    TRY(check_input(a, in));
    REQUIRE(!o.plain_shadows || query_shadows_are_networks(in, &o),
            "attack: shadows without residual perturbation need a network as target");
    TRY(query_choose_shadows(&query, &w, a, in, &o));
    in->target->repeats = o.repeats;
    in->target->ctx = ctx;
    TRY(gather_inputs(&query, &w, a, in, &o));
    NEW(fresh, n);
    TRY(a->run(fresh, &result, &query));
    if ((o.worker || o.plan) && !result.pending)
        FAIL(SOTTO_EUSAGE, "attack: %s keeps no shadow models in the cache, so workers cannot share them",
             a->name);
    TRY(restore_order(fresh, &result, &w, &query));
    if (result.pending) {
        r.pending = 1;
    } else {
        TRY(query_measure(&r, fresh, &result, a, &query, in));
        TRY(query_check_overlap(&r, in, ctx));
    }
    TRY(query_describe(&r, fresh, &result, a, &query, in->member.n));
    if (!result.pending)
        memcpy(scores, fresh, n * sizeof *scores);
    *finished = !result.pending;
    *out = r;
    r = (struct sotto_audit_result){0};
done:
    in->target->repeats = repeats_before;
    in->target->ctx = NULL;
    query_attack_run_clear(&w);
    base_free(fresh);
    facts_clear(&result.facts);
    base_free(result.signals);
    base_free(result.trained);
    sotto_audit_result_free(&r);
    return status;
}
