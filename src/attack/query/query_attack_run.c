/* The life of an attack on a model: check what was given, ask the target about the records, let the attack
 * score them, and leave the statistics to the audit. */
#include "attack/query/query_decision.h"
#include "attack/query/record_order.h"
#include "attack/query/record_overlap.h"
#include "attack/query/shadow_recipe.h"
#include "attack/query_attack.h"
#include "audit/audit_document.h"
#include "audit/audit_memory.h"
#include "base/reserved.h"
#include "nn/nn.h"
#include "par/par.h"
#include "sotto/option.h"
#include "sotto/ssl.h"
#include "train/network/network.h"
#include "train/private/dp_sgd.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void sotto_attack_defaults(struct sotto_attack_options *o)
{
    *o = (struct sotto_attack_options){0};
    sotto_options_defaults(o, sotto_attack_option_table());
}

/* Everything of one run that must be freed. */
struct model_work {
    float *x, *answers, *known_x;
    int64_t *y, *known_y;
    uint8_t *known_member;
    double *posteriors;
    int64_t
        *order; /* (n): the record in each row of x, y and posteriors while the attack runs; NULL: as given */
    struct sotto_head_recipe recipe;
    struct sotto_train_options network;
    struct sotto_train_privacy privacy;
};

static void clear(struct model_work *w)
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

static sotto_status check_records(const struct sotto_records *r, size_t d, size_t classes, const char *what)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; i < r->n * d; i++)
        REQUIRE(isfinite(r->x[i]), "%s: row %zu, column %zu is not finite; features must be finite", what,
                i / d, i % d);
    for (size_t i = 0; i < r->n; i++)
        REQUIRE(r->y[i] >= 0 && (uint64_t)r->y[i] < classes,
                "%s: row %zu has label %lld; the target has classes 0 to %zu", what, i, (long long)r->y[i],
                classes - 1);
done:
    return status;
}

static sotto_status check_input(const struct query_attack *a, const struct sotto_attack_input *in)
{
    sotto_status status = SOTTO_OK;
    size_t d = in->target->inputs, classes = in->target->classes;
    REQUIRE(in->member.n > 0 && in->nonmember.n > 0,
            "attack: %zu members and %zu non-members; both must be > 0", in->member.n, in->nonmember.n);
    TRY(check_records(&in->member, d, classes, "members"));
    TRY(check_records(&in->nonmember, d, classes, "non-members"));
    TRY(check_records(&in->attacker, d, classes, "attacker's records"));
    TRY(check_records(&in->other, in->other_inputs, in->other_classes, "other set"));
    TRY(check_records(&in->known_member, d, classes, "known members"));
    TRY(check_records(&in->known_nonmember, d, classes, "known non-members"));
    REQUIRE((in->known_member.n > 0) == (in->known_nonmember.n > 0),
            "attack: %zu known members and %zu known non-members; expected some of both, or none",
            in->known_member.n, in->known_nonmember.n);
    if (in->known_member.n > 0 && !(a->needs & QUERY_KNOWN_IF_ANY))
        FAIL(SOTTO_EUSAGE, "attack: %s does not learn from known members; expected white-box", a->name);
    if ((a->needs & QUERY_WEIGHTS) && !in->target->head && !in->target->network)
        FAIL(SOTTO_EUSAGE,
             "attack: %s needs the weights of the model, but this target only answers queries; give --target "
             "FILE",
             a->name);
    if ((a->needs & QUERY_NETWORK) && !in->target->network)
        FAIL(SOTTO_EUSAGE, "attack: %s reads layers of a whole network (sotto train); this target has none",
             a->name);
    if ((a->needs & QUERY_ATTACKER) && in->attacker.n == 0)
        FAIL(SOTTO_EUSAGE,
             "attack: %s needs records of the attacker; give --attacker-features and --attacker-labels",
             a->name);
    if ((a->needs & QUERY_OTHER) && in->other.n == 0)
        FAIL(SOTTO_EUSAGE,
             "attack: %s needs records of another data set; give --other-features and --other-labels",
             a->name);
done:
    return status;
}

/* Two recipes that give the same model on the same records, but for chance. */
static bool same_recipe(const struct sotto_head_recipe *a, const struct sotto_head_recipe *b)
{
    char one[HEAD_RECIPE_TEXT], two[HEAD_RECIPE_TEXT];
    struct sotto_head_recipe other = *b;
    other.seed = a->seed;
    head_recipe_text(one, a, 1, 1);
    head_recipe_text(two, &other, 1, 1);
    return strcmp(one, two) == 0;
}

/* The shadows' recipe: as asked, else the target's. */
static sotto_status choose_recipe(struct sotto_head_recipe *out, const struct query_attack *a,
                                  const struct sotto_attack_input *in, const struct sotto_attack_options *o)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_head *h = in->target->head;
    const struct sotto_head_recipe *own = h && h->has_recipe ? &h->recipe : NULL;
    if (!o->recipe && !own)
        FAIL(SOTTO_EUSAGE,
             "attack: %s trains shadow models, but the recipe of the target is unknown; give theirs by "
             "--hidden, --epochs, --batch and --lr",
             a->name);
    if (o->recipe)
        TRY(head_recipe_resolve(out, o->recipe));
    else
        *out = *own;
    TRY(head_recipe_check(out));
    if (own && !same_recipe(own, out) && !o->mismatch && !(a->needs & QUERY_OTHER)) {
        char theirs[HEAD_RECIPE_TEXT], ours[HEAD_RECIPE_TEXT];
        head_recipe_text(theirs, own, in->target->inputs, in->target->classes);
        head_recipe_text(ours, out, in->target->inputs, in->target->classes);
        FAIL(SOTTO_EUSAGE,
             "attack: the recipe of the shadows is %.200s but that of the target is %.200s; give --mismatch "
             "to allow this",
             ours, theirs);
    }
done:
    return status;
}

static const struct sotto_train_options *network_recipe(const struct sotto_attack_input *in)
{
    const struct sotto_network *n = in->target->network;
    return n && n->has_recipe ? &n->recipe : NULL;
}

/* Are shadows whole networks? */
static bool shadows_are_networks(const struct sotto_attack_input *in, const struct sotto_attack_options *o)
{
    return o->network || (!o->recipe && network_recipe(in));
}

/* dtype and backend: as asked, else the target's. Where the target's are not known, f32 on what this machine
 * has, without a measurement, so that a cache of shadows goes on whenever it is continued. */
static sotto_status choose_kernels(struct sotto_train_options *n, const struct sotto_train_options *own)
{
    sotto_status status = SOTTO_OK;
    const struct nn_backend *backend;
    enum nn_dtype dtype;
    bool any = !n->backend || strcmp(n->backend, "auto") == 0;
    if (any && (!own || !own->backend || nn_backend_find(&backend, own->backend) != SOTTO_OK))
        TRY(nn_backend_find(&backend, "auto"));
    else if (!any)
        TRY(nn_backend_find(&backend, n->backend));
    if (!n->dtype || strcmp(n->dtype, "auto") == 0)
        n->dtype = own ? own->dtype : "f32";
    TRY(nn_dtype_find(&dtype, n->dtype, backend));
    n->dtype = dtype == NN_BF16 ? "bf16" : "f32";
    n->backend = nn_backend_name(backend);
done:
    return status;
}

/* A target that was fine-tuned says by what hash its encoder goes; its file is the attacker's to give. */
static sotto_status check_encoder(const struct sotto_train_options *n, const struct sotto_network *target,
                                  bool mismatch)
{
    sotto_status status = SOTTO_OK;
    struct sotto_encoder *e = NULL;
    const char *from = target ? network_fact(target, "from") : NULL;
    if (!from || mismatch)
        goto done;
    if (!n->from)
        FAIL(SOTTO_EUSAGE,
             "attack: the target was fine-tuned from encoder %.16s..., from which its shadows must start "
             "too; give its file "
             "by --from",
             from);
    TRY(sotto_encoder_load(&e, n->from));
    if (strcmp(sotto_encoder_sha256(e), from) != 0)
        FAIL(SOTTO_EUSAGE,
             "attack: %s is encoder %.16s..., but the target was fine-tuned from %.16s...; give that one, or "
             "--mismatch to "
             "allow this",
             n->from, sotto_encoder_sha256(e), from);
    if (!n->standardise && network_fact(target, TRAIN_STANDARDISE_KEY))
        FAIL(SOTTO_EUSAGE,
             "attack: the target standardises embeddings by public ones; give them by --standardise");
done:
    sotto_encoder_free(e);
    return status;
}

/* The same for networks. */
static sotto_status choose_network(struct sotto_train_options *out, const struct query_attack *a,
                                   const struct sotto_attack_input *in, const struct sotto_attack_options *o)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_train_options *own = network_recipe(in);
    struct sotto_train_options n;
    bool mismatch = o->mismatch || o->plain_shadows;
    if (o->network)
        TRY(train_options_resolve(&n, o->network));
    else
        n = *own;
    if (o->plain_shadows)
        n.residual = (struct sotto_residual_noise){0};
    char theirs[TRAIN_RECIPE_TEXT], ours[TRAIN_RECIPE_TEXT];
    n.checkpoint = n.metrics = NULL;
    if (n.channels == 0)
        n.channels = o->channels, n.height = o->height, n.width = o->width;
    TRY(check_encoder(&n, in->target->network, mismatch));
    TRY(train_options_check(&n));
    TRY(choose_kernels(&n, own));
    if (own && !mismatch && !(a->needs & QUERY_OTHER)) {
        struct sotto_train_options other = n;
        other.seed = own->seed;
        TRY(train_recipe_text(theirs, own));
        TRY(train_recipe_text(ours, &other));
        if (strcmp(theirs, ours) != 0)
            FAIL(SOTTO_EUSAGE,
                 "attack: the recipe of the shadows is %.300s but that of the target is %.300s; give "
                 "--mismatch to allow this",
                 ours, theirs);
    }
    *out = n;
done:
    return status;
}

/* A target of DP-SGD has shadows of DP-SGD, by the fast sampler: the law is the same. Those who ask for
 * another recipe, or none of its noise, have shadows without. */
static sotto_status choose_privacy(struct query_input *out, struct model_work *w,
                                   const struct sotto_attack_input *in, const struct sotto_attack_options *o)
{
    sotto_status status = SOTTO_OK;
    const char *text = in->target->network ? network_fact(in->target->network, "private_recipe") : NULL;
    if (!text || o->mismatch || o->plain_shadows)
        goto done;
    TRY(dp_sgd_parse(&w->privacy, text, "the target", &w->network));
    out->privacy = &w->privacy;
done:
    return status;
}

/* Are there records and a recipe for a shadow? */
static bool can_rehearse(const struct sotto_attack_input *in, const struct sotto_attack_options *o)
{
    const struct sotto_head *h = in->target->head;
    return in->attacker.n > 0 &&
           (o->recipe || (h && sotto_head_get_recipe(h)) || shadows_are_networks(in, o));
}

static sotto_status choose(struct query_input *out, struct model_work *w, const struct query_attack *a,
                           const struct sotto_attack_input *in, const struct sotto_attack_options *o)
{
    sotto_status status = SOTTO_OK;
    if (in->known_member.n > 0)
        goto done;
    if (!(a->needs & QUERY_SHADOWS) && !((a->needs & QUERY_SHADOW_IF_ANY) && can_rehearse(in, o)))
        goto done;
    REQUIRE(!o->recipe || !o->network,
            "attack: the shadows are described as heads and as networks; give only one");
    if (shadows_are_networks(in, o)) {
        TRY(choose_network(&w->network, a, in, o));
        TRY(choose_privacy(out, w, in, o));
        out->network = &w->network;
    } else {
        TRY(choose_recipe(&w->recipe, a, in, o));
        out->recipe = &w->recipe;
    }
done:
    return status;
}

/* What the target decides about the records, as posteriors of 1. */
static sotto_status ask_decisions(struct model_work *w, struct sotto_target *t, size_t n)
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

static sotto_status shuffle(struct model_work *w, size_t n, size_t d, uint64_t seed)
{
    sotto_status status = SOTTO_OK;
    TRY(record_order_draw(&w->order, n, seed));
    TRY(record_order_apply(w->x, w->order, n, d * sizeof *w->x));
    TRY(record_order_apply(w->y, w->order, n, sizeof *w->y));
done:
    return status;
}

/* The records, their answers and scores as they were given, for the evaluation. */
static sotto_status restore_order(double *scores, struct query_result *result, struct model_work *w,
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
static sotto_status gather(struct model_work *w, const struct query_attack *a,
                           const struct sotto_attack_input *in, const struct sotto_attack_options *o)
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
        TRY(shuffle(w, n, d, o->seed));
    if (a->needs & QUERY_POSTERIORS) {
        TRY(sotto_target_query(t, w->answers, w->x, n));
        for (size_t i = 0; i < n * k; i++)
            w->posteriors[i] = (double)w->answers[i];
    } else if (a->needs & QUERY_DECISIONS) {
        TRY(ask_decisions(w, t, n));
    }
done:
    return status;
}

/* Known members, then known others. */
static sotto_status gather_known(struct query_input *out, struct model_work *w,
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

/* The last attack, which is ours, comes first. */
static void ours_first(struct sotto_audit_result *r)
{
    if (r->attack_count == 0)
        return;
    const struct sotto_audit_attack ours = r->attacks[r->attack_count - 1];
    memmove(r->attacks + 1, r->attacks, (r->attack_count - 1) * sizeof *r->attacks);
    r->attacks[0] = ours;
}

/* One audit: this attack first, then two that need nothing but the answers; and the checks of the two
 * sets. */
static sotto_status measure(struct sotto_audit_result *out, const double *scores,
                            const struct query_result *result, const struct query_attack *a,
                            const struct query_input *in, const struct sotto_attack_input *given)
{
    sotto_status status = SOTTO_OK;
    static const char *const baselines[] = {"loss", "correctness", NULL};
    size_t m = given->member.n, k = in->records.classes;
    struct sotto_audit_options options = in->options->audit;
    char title[200], poisoned[64] = "";
    if (in->options->poison)
        snprintf(poisoned, sizeof poisoned, ", with %zu wrong cop%s of each record", in->options->poison,
                 in->options->poison == 1 ? "y" : "ies");
    snprintf(title, sizeof title, "%s%s%s", a->title,
             in->options->known_start ? ", started as the target was (known start)" : "", poisoned);
    struct sotto_audit_scores own = {.name = a->name,
                                     .title = title,
                                     .source = a->source,
                                     .member = scores,
                                     .nonmember = scores + m,
                                     .has_threshold = !isnan(result->threshold),
                                     .threshold = result->threshold};
    struct sotto_audit_input arrays = {.n_member = m,
                                       .n_nonmember = given->nonmember.n,
                                       .classes = k,
                                       .probabilities = 1,
                                       .member_features = given->member.x,
                                       .nonmember_features = given->nonmember.x,
                                       .feature_count = in->records.d,
                                       .named = &own,
                                       .named_count = 1};
    if (in->posteriors) {
        arrays.member_f8 = in->posteriors, arrays.nonmember_f8 = in->posteriors + m * k;
        arrays.member_labels = given->member.y, arrays.nonmember_labels = given->nonmember.y;
        options.names = baselines + !(a->needs & QUERY_POSTERIORS); /* a decision has no loss */
    }
    if (result->signals) {
        arrays.member_reference = result->signals,
        arrays.nonmember_reference = result->signals + m * result->models;
        arrays.member_trained = result->trained,
        arrays.nonmember_trained = result->trained + m * result->models;
        arrays.reference_models = result->models;
    }
    options.seed = in->options->seed;
    TRY(sotto_audit(out, &arrays, &options, in->ctx));
    ours_first(out);
done:
    return status;
}

/* An attacker whose records trained the target needs no attack; what is measured is then something else. */
static sotto_status check_overlap(struct sotto_audit_result *r, const struct sotto_attack_input *given,
                                  const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    size_t shared = 0, d = given->target->inputs;
    char text[256];
    TRY(record_overlap(&shared, given->attacker.x, given->attacker.n, given->member.x, given->member.n, d));
    if (shared > 0) {
        snprintf(
            text, sizeof text,
            "%zu of the attacker's %zu records are also members, so the result of the attack is too good",
            shared, given->attacker.n);
        context_log(ctx, SOTTO_LOG_WARNING, "%s", text);
        TRY(audit_add_warning(r, text));
    }
    TRY(record_overlap(&shared, given->known_member.x, given->known_member.n, given->member.x,
                       given->member.n, d));
    if (shared > 0) {
        snprintf(
            text, sizeof text,
            "%zu of the %zu known members are also among the members to judge, so the result of the attack "
            "is too good",
            shared, given->known_member.n);
        context_log(ctx, SOTTO_LOG_WARNING, "%s", text);
        TRY(audit_add_warning(r, text));
    }
done:
    return status;
}

static sotto_status describe_decision(struct facts *facts, const double *scores, double threshold,
                                      const struct query_input *in, size_t n_member)
{
    return query_decision(facts, scores, in->records.y, n_member, in->records.n, in->records.classes,
                          threshold, in->options->audit.confidence);
}

/* How the queries were hidden, if they were. */
static void describe_disguise(struct facts *facts, const struct sotto_target *t, bool shuffled)
{
    if (!shuffled && t->cover == 0 && t->clients == 0)
        return;
    struct facts *f = fact_group(facts, "disguise");
    fact_count(f, "clients", t->clients ? t->clients : 1);
    fact_count(f, "cover_queries", t->cover);
    fact_flag(f, "shuffled", shuffled);
}

/* Precision and recall at each of the attack's further thresholds. */
static sotto_status describe_thresholds(struct facts *facts, const double *scores,
                                        const struct query_result *r, const struct query_input *in,
                                        size_t n_member)
{
    sotto_status status = SOTTO_OK;
    struct facts *list = fact_list(facts, "thresholds");
    for (size_t t = 0; t < r->also_count; t++)
        TRY(describe_decision(fact_group(list, NULL), scores, r->also[t], in, n_member));
done:
    return status;
}

static sotto_status describe(struct sotto_audit_result *out, const double *scores, struct query_result *r,
                             const struct query_attack *a, const struct query_input *in, size_t n_member)
{
    sotto_status status = SOTTO_OK;
    struct facts *facts = &r->facts;
    fact_text(facts, "name", a->name);
    fact_count(facts, "queries", in->target->used);
    if (in->options->repeats > 1)
        fact_count(facts, "repeats", in->options->repeats);
    describe_disguise(facts, in->target, in->options->shuffle);
    if (isnan(r->threshold))
        fact_real(facts, "decision", NAN);
    else
        TRY(describe_decision(fact_group(facts, "decision"), scores, r->threshold, in, n_member));
    if (r->also_count)
        TRY(describe_thresholds(facts, scores, r, in, n_member));
    TRY(audit_put_more(out, "model_attack", facts_encode(facts)));
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

static sotto_status find(const struct query_attack **out, const char *name)
{
    sotto_status status = SOTTO_OK;
    char known[512];
    size_t used = 0;
    *out = name ? query_attack_find(name) : NULL;
    for (size_t i = 0; query_attack_table[i] && used < sizeof known - 64; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                                 query_attack_table[i]->name);
    if (!*out)
        FAIL(SOTTO_EUSAGE, "attack: unknown attack '%s'; expected one of %s", name ? name : "", known);
done:
    return status;
}

static sotto_status check_options(const struct query_attack *a, const struct sotto_attack_options *o)
{
    sotto_status status = SOTTO_OK;
    if (o->explain && !(a->needs & QUERY_NETWORK))
        FAIL(SOTTO_EUSAGE, "attack: %s explains nothing; --explain is for stolen-memories-layers", a->name);
    if (o->shuffle && (a->needs & QUERY_WEIGHTS))
        FAIL(SOTTO_EUSAGE, "attack: %s reads weights and hides no queries; omit --shuffle", a->name);
    if (o->poison && !(a->needs & QUERY_HALVES))
        FAIL(SOTTO_EUSAGE, "attack: %s poisons nothing; --poison is for lira and rmia", a->name);
    if (o->audit.memorisation && (!(a->needs & QUERY_HALVES) || o->views > 1))
        FAIL(SOTTO_EUSAGE, "attack: memorisation is measured by the shadow models of lira and rmia, of one "
                           "view of each record");
    if (o->poison && o->shuffle)
        FAIL(SOTTO_EUSAGE, "attack: the labels of --poison go by the order of the records; omit --shuffle");
    REQUIRE(o->shards > 0 && o->shard < o->shards, "attack: shard %zu of %zu; expected 0 .. shards - 1",
            o->shard, o->shards);
done:
    return status;
}

sotto_status sotto_attack(struct sotto_audit_result *out, double *scores, int *finished,
                          const struct sotto_attack_input *given, const struct sotto_attack_options *options,
                          const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct query_attack *a;
    struct model_work w = {0};
    struct query_result result = {.threshold = NAN};
    struct sotto_audit_result r = {0};
    double *fresh = NULL;
    size_t n = given->member.n + given->nonmember.n, d = given->target->inputs, k = given->target->classes;
    const size_t repeats_before = given->target->repeats; /* the target is the caller's */
    struct sotto_attack_options o;
    struct query_input in = {.target = given->target, .options = &o, .ctx = ctx};
    TRY(sotto_options_resolve(&o, options, sotto_attack_option_table()));
    TRY(sotto_options_resolve(&o.audit, &o.audit, sotto_audit_option_table()));
    TRY(sotto_options_check(&o, sotto_attack_option_table(), "layers|explain"));
    TRY(require_reserved(given->reserved, "attack"));
    TRY(shadow_recipe_apply(&o, &w.recipe, &w.network, given->target));
    if (o.channels == 0)
        take_image_shape(&o, given->target->network);
    TRY(find(&a, o.name));
    TRY(check_options(a, &o));
    TRY(check_input(a, given));
    REQUIRE(!o.plain_shadows || shadows_are_networks(given, &o),
            "attack: shadows without residual perturbation need a network as target");
    TRY(choose(&in, &w, a, given, &o));
    given->target->repeats = o.repeats;
    given->target->ctx = ctx;
    TRY(gather(&w, a, given, &o));
    TRY(gather_known(&in, &w, given));
    in.records = (struct head_data){w.x, w.y, n, d, k};
    in.posteriors = a->needs & (QUERY_POSTERIORS | QUERY_DECISIONS) ? w.posteriors : NULL;
    in.attacker = (struct head_data){given->attacker.x, given->attacker.y, given->attacker.n, d, k};
    in.other = (struct head_data){given->other.x, given->other.y, given->other.n, given->other_inputs,
                                  given->other_classes};
    NEW(fresh, n);
    TRY(a->run(fresh, &result, &in));
    TRY(restore_order(fresh, &result, &w, &in));
    if (result.pending) {
        r.pending = 1;
    } else {
        TRY(measure(&r, fresh, &result, a, &in, given));
        TRY(check_overlap(&r, given, ctx));
    }
    TRY(describe(&r, fresh, &result, a, &in, given->member.n));
    if (!result.pending)
        memcpy(scores, fresh, n * sizeof *scores);
    *finished = !result.pending;
    *out = r;
    r = (struct sotto_audit_result){0};
done:
    given->target->repeats = repeats_before;
    given->target->ctx = NULL;
    clear(&w);
    base_free(fresh);
    facts_clear(&result.facts);
    base_free(result.signals);
    base_free(result.trained);
    sotto_audit_result_free(&r);
    return status;
}
