/* How the shadow models of an attack are trained: as asked, else as the target was, and an error where the two differ. */
#include "attack/query/query_run.h"

#include "nn/nn.h"
#include "sotto/lab/head.h"
#include "sotto/lab/ssl.h"
#include "train/network/network.h"
#include "train/private/dp_sgd.h"

#include <string.h>

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
             "{recipe.hidden}, {recipe.epochs}, {recipe.batch} and {recipe.lr}",
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
             "attack: the recipe of the shadows is %.200s but that of the target is %.200s; give {mismatch} "
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

bool query_shadows_are_networks(const struct sotto_attack_input *in, const struct sotto_attack_options *o)
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
             "by {network.from}",
             from);
    TRY(sotto_encoder_load(&e, n->from));
    if (strcmp(sotto_encoder_sha256(e), from) != 0)
        FAIL(SOTTO_EUSAGE,
             "attack: %s is encoder %.16s..., but the target was fine-tuned from %.16s...; give that one, or "
             "{mismatch} to "
             "allow this",
             n->from, sotto_encoder_sha256(e), from);
    if (!n->standardise && network_fact(target, TRAIN_STANDARDISE_KEY))
        FAIL(SOTTO_EUSAGE,
             "attack: the target standardises embeddings by public ones; give them by {network.standardise}");
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
    n.checkpoint = n.metrics = n.snapshots = NULL;
    n.snapshot_every = 0;
    if (n.channels == 0)
        n.channels = o->channels, n.height = o->height, n.width = o->width;
    TRY(check_encoder(&n, in->target->network, mismatch));
    TRY(train_options_check(&n));
    TRY(choose_kernels(&n, own));
    if (own && !mismatch && strcmp(n.order, "auto") == 0)
        n.order = own->order, n.leaf = own->leaf;
    if (own && !mismatch && !(a->needs & QUERY_OTHER)) {
        struct sotto_train_options other = n;
        other.seed = own->seed;
        TRY(train_recipe_text(theirs, own));
        TRY(train_recipe_text(ours, &other));
        if (strcmp(theirs, ours) != 0)
            FAIL(SOTTO_EUSAGE,
                 "attack: the recipe of the shadows is %.300s but that of the target is %.300s; give "
                 "{mismatch} to allow this",
                 ours, theirs);
    }
    *out = n;
done:
    return status;
}

/* A target of DP-SGD has shadows of DP-SGD, by the fast sampler: the law is the same. Those who ask for
 * another recipe, or none of its noise, have shadows without. */
static sotto_status choose_privacy(struct query_input *out, struct query_work *w,
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
           (o->recipe || (h && sotto_head_get_recipe(h)) || query_shadows_are_networks(in, o));
}

sotto_status query_choose_shadows(struct query_input *out, struct query_work *w, const struct query_attack *a,
                                  const struct sotto_attack_input *in, const struct sotto_attack_options *o)
{
    sotto_status status = SOTTO_OK;
    if (in->known_member.n > 0)
        goto done;
    if (!(a->needs & QUERY_SHADOWS) && !((a->needs & QUERY_SHADOW_IF_ANY) && can_rehearse(in, o)))
        goto done;
    REQUIRE(!o->recipe || !o->network,
            "attack: the shadows are described as heads and as networks; give only one");
    if (query_shadows_are_networks(in, o)) {
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
