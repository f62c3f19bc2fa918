/* The experiment file, read. A single head may be written as top-level `head`, `sensitivity`, `protect`; several heads, each on
 * its own slice of the private part, as a list `cases` of the same three sections. */
#include "run/config/run_config.h"
#include "sotto/lab/head.h"
#include "sotto/release.h"

#include "run/config/config_members.h"
#include "run/config/config_network.h"
#include "run/config/config_sections.h"
#include "train/plain/fine_tune.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Texts go into fixed arrays; a longer one is an error, never cut. */
static sotto_status run_config_copy(char *out, size_t capacity, const struct config *c, const char *path)
{
    const char *text = config_text(c, "%s", path);
    if (strlen(text) >= capacity)
        return config_fail(c, path, "%s is too long; expected at most %zu bytes", path, capacity - 1);
    strcpy(out, text);
    return SOTTO_OK;
}

static bool is_plain_name(const char *text)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
    return text[0] && text[0] != '.' && text[length] == '\0';
}

static sotto_status read_pretrain(struct run_config *out, const struct config *c)
{
    sotto_status status = SOTTO_OK;
    struct sotto_pretrain_options *p = &out->pretrain;
    sotto_pretrain_defaults(p);
    TRY(config_members_read(p, out->pretrain_texts, c, "", &config_pretrain));
    TRY(run_config_copy(out->dtype, sizeof out->dtype, c, "pretrain.dtype"));
    TRY(run_config_copy(out->backend, sizeof out->backend, c, "pretrain.backend"));
    p->dtype = out->dtype, p->backend = out->backend;
    p->seed = out->seed;
    if (p->batch > out->sizes[SPLIT_PUBLIC])
        TRY(config_fail(c, "pretrain.batch", "pretrain.batch is %zu but data.public has only %zu images",
                        p->batch, out->sizes[SPLIT_PUBLIC]));
done:
    return status;
}

bool run_is_convex(const struct run_case *c)
{
    return strncmp(c->recipe.trainer, "convex", 6) == 0;
}

bool run_has_sensitivity(const struct run_case *c)
{
    return c->pairs > 0 || run_is_convex(c);
}

bool run_states_sensitivity(const struct run_protection *p)
{
    return !isnan(p->release.sensitivity.l1) || !isnan(p->release.sensitivity.l2);
}

static sotto_status read_conditions(struct run_protection *p, const struct config *c, const char *prefix,
                                    size_t i)
{
    sotto_status status = SOTTO_OK;
    char path[128];
    snprintf(path, sizeof path, "%sprotect[%zu].read_from_data", prefix, i);
    size_t n = config_length(c, "%s", path);
    if (n > RUN_CONDITIONS)
        TRY(config_fail(c, path, "%s has %zu entries; expected at most %d", path, n, RUN_CONDITIONS));
    for (size_t k = 0; k < n; k++) {
        snprintf(path, sizeof path, "%sprotect[%zu].read_from_data[%zu]", prefix, i, k);
        TRY(run_config_copy(p->conditions[k], sizeof p->conditions[k], c, path));
        p->read_from_data[k] = p->conditions[k];
    }
    p->release.spend.read_from_data = p->read_from_data;
done:
    return status;
}

/* Keys of a private training would be ignored beside a mechanism. */
static sotto_status refuse_training_keys(const struct config *c, const char *prefix, const char *section)
{
    static const char *const keys[] = {"hidden",
                                       "epochs",
                                       "batch",
                                       "lr",
                                       "clip",
                                       "bias",
                                       "lambda",
                                       "cross",
                                       "noise",
                                       "max_grad_norm",
                                       "momentum",
                                       "adjacency",
                                       "canaries.count",
                                       "canaries.kind",
                                       "canaries.guesses",
                                       "canaries.access"};
    static const char why[] = "is of a private training; expected it beside 'trainer', not 'mechanism'";
    sotto_status status = config_refuse_keys(c, prefix, section, keys, sizeof keys / sizeof *keys, why);
    return status == SOTTO_OK ? config_network_refuse(c, prefix, section, why) : status;
}

static sotto_status read_head_training(struct run_protection *p, const struct run_case *owner,
                                       const struct config *c, const char *prefix, const char *section)
{
    sotto_status status = SOTTO_OK;
    struct config_members members = config_private;
    char path[128];
    TRY(config_network_refuse(c, prefix, section,
                              "is of a whole network; expected it beside 'model' or 'from'"));
    members.section = section;
    TRY(config_members_read(&p->recipe, p->texts, c, prefix, &members));
    if (p->recipe.batch > owner->records) { /* before pre-training, not after */
        snprintf(path, sizeof path, "%s%sbatch", prefix, section);
        TRY(config_fail(c, path, "%s is %zu, but the case has only %zu records", path, p->recipe.batch,
                        owner->records));
    }
done:
    return status;
}

static sotto_status read_network_training(struct run_protection *p, struct run_config *config,
                                          const struct run_case *owner, const struct config *c,
                                          const char *prefix, const char *section)
{
    sotto_status status = SOTTO_OK;
    char path[128];
    snprintf(path, sizeof path, "%strainer", section);
    if (config->network_count == RUN_NETWORKS)
        TRY(config_fail(c, path, "more than %d private networks; expected fewer", RUN_NETWORKS));
    struct run_network *n = &config->networks[config->network_count++];
    TRY(config_network_read(
        n, c, &(struct config_network_place){prefix, section, p->mechanism, owner->records, config->seed}));
    p->network = n;
done:
    return status;
}

/* One model is audited once: with the access that shows what its canaries are. */
static sotto_status check_canaries(const struct run_canary_audit *a, const char *access,
                                   const struct config *c, const char *path)
{
    sotto_status status = SOTTO_OK;
    const bool gradients = a->options.kind == SOTTO_CANARY_DIRAC;
    if (a->options.count == 0)
        TRY(config_fail(c, path, "%s has no count; expected the number of canaries", path));
    if (a->guesses == 0)
        TRY(config_fail(
            c, path, "%s has no guesses; expected a number of guesses on each side, fixed beforehand", path));
    if (2 * a->guesses > a->options.count)
        TRY(config_fail(c, path, "%s: %zu guesses on each side of %zu canaries; expected at most %zu", path,
                        a->guesses, a->options.count, a->options.count / 2));
    if (access && a->white_box != gradients)
        TRY(config_fail(c, path, "%s: access %s does not fit the kind; expected white-box for dirac alone",
                        path, access));
done:
    return status;
}

static bool given_canaries(const struct config *c, const char *path)
{
    static const char *const keys[] = {"count", "kind", "guesses", "access"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (config_given(c, "%s.%s", path, keys[i]))
            return true;
    return false;
}

static sotto_status read_canaries(struct run_protection *p, const struct config *c, const char *prefix,
                                  const char *section)
{
    sotto_status status = SOTTO_OK;
    struct config_members members = config_canary;
    struct run_canary_audit *a = &p->canaries;
    char inner[96], path[128];
    snprintf(path, sizeof path, "%s%scanaries", prefix, section);
    if (!given_canaries(c, path)) /* a resolved file names the section all the same */
        goto done;
    if (strncmp(p->mechanism, "dp-", 3) != 0 && strcmp(p->mechanism, "covariance") != 0)
        TRY(config_fail(c, path, "%s: trainer %s takes none; expected dp-sgd, dp-adam, dp-gd or covariance",
                        path, p->mechanism));
    snprintf(inner, sizeof inner, "%scanaries.", section);
    members.section = inner;
    TRY(config_members_read(&a->options, NULL, c, prefix, &members));
    const char *access = config_text(c, "%s%saccess", prefix, inner);
    a->white_box = access ? strcmp(access, "white-box") == 0 : a->options.kind == SOTTO_CANARY_DIRAC;
    if (config_given(c, "%s%sguesses", prefix, inner))
        a->guesses = config_whole(c, "%s%sguesses", prefix, inner);
    TRY(check_canaries(a, access, c, path));
done:
    return status;
}

static sotto_status read_adjacency(struct run_protection *p, const struct config *c, const char *prefix,
                                   const char *section)
{
    sotto_status status = SOTTO_OK;
    struct config_members members = config_private_spend;
    struct sotto_train_privacy privacy = {.adjacency = SOTTO_REPLACE_ONE};
    char path[128];
    members.section = section;
    TRY(config_members_read(&privacy, NULL, c, prefix, &members));
    p->adjacency = privacy.adjacency;
    snprintf(path, sizeof path, "%s%sadjacency", prefix, section);
    if (p->adjacency != SOTTO_REPLACE_ONE && strncmp(p->mechanism, "dp-", 3) != 0)
        TRY(config_fail(c, path, "%s: trainer %s has a guarantee for a replaced record only; omit it", path,
                        p->mechanism));
done:
    return status;
}

static sotto_status read_private_training(struct run_protection *p, struct run_config *config,
                                          const struct run_case *owner, const struct config *c,
                                          const char *prefix, const char *section)
{
    sotto_status status = SOTTO_OK;
    static const char *const others[] = {"mechanism", "scale", "l1", "l2"};
    char path[128];
    TRY(config_refuse_keys(c, prefix, section, others, sizeof others / sizeof *others,
                           "is of noise on a trained head; expected it without 'trainer'"));
    snprintf(path, sizeof path, "%s%sepsilon", prefix, section);
    if (isnan(p->release.target.epsilon))
        TRY(config_fail(c, path, "%s is missing; a private training needs it", path));
    p->recipe = (struct sotto_head_recipe){.trainer = p->mechanism, .seed = owner->recipe.seed};
    if (config_is_network(c, prefix, section))
        TRY(read_network_training(p, config, owner, c, prefix, section));
    else
        TRY(read_head_training(p, owner, c, prefix, section));
    TRY(read_adjacency(p, c, prefix, section));
    TRY(read_canaries(p, c, prefix, section));
done:
    return status;
}

static sotto_status read_protection(struct run_protection *p, struct run_config *config,
                                    const struct run_case *owner, const struct config *c, const char *prefix,
                                    size_t i)
{
    sotto_status status = SOTTO_OK;
    struct config_members members = config_protect;
    struct sotto_release *r = &p->release;
    char section[64], path[128];
    snprintf(section, sizeof section, "protect[%zu].", i);
    members.section = section;
    TRY(config_members_read(r, NULL, c, prefix, &members));
    TRY(read_conditions(p, c, prefix, i));
    snprintf(path, sizeof path, "%s%strainer", prefix, section);
    p->trained = config_given(c, "%s", path);
    if (p->trained) {
        TRY(run_config_copy(p->mechanism, sizeof p->mechanism, c, path));
        TRY(read_private_training(p, config, owner, c, prefix, section));
        goto done;
    }
    snprintf(path, sizeof path, "%s%smechanism", prefix, section);
    if (!config_given(c, "%s", path))
        TRY(config_fail(c, path, "%sprotect[%zu] has no mechanism and no trainer; expected one of them",
                        prefix, i));
    TRY(run_config_copy(p->mechanism, sizeof p->mechanism, c, path));
    TRY(refuse_training_keys(c, prefix, section));
    r->mechanism = p->mechanism;
    if (isnan(r->scale) == isnan(r->target.epsilon))
        TRY(config_fail(c, path, "%sprotect[%zu] needs exactly one of scale and epsilon", prefix, i));
    if (!run_states_sensitivity(p) && !run_has_sensitivity(owner))
        TRY(config_fail(
            c, path,
            "%sprotect[%zu] has no sensitivity; expected sensitivity.pairs > 0, or l1 or l2 in the entry",
            prefix, i));
done:
    return status;
}

static sotto_status read_sweep(struct run_sweep *out, const struct run_case *owner, const struct config *c,
                               const char *prefix)
{
    sotto_status status = SOTTO_OK;
    char path[128];
    static const char names[] = " logistic logistic-l2 laplace gaussian gaussian-classical knorm ";
    out->epsilon_count = config_length(c, "%ssweep.epsilons", prefix);
    out->scale_count = config_length(c, "%ssweep.scales", prefix);
    out->mechanism_count = config_length(c, "%ssweep.mechanisms", prefix);
    out->delta = config_real(c, "%ssweep.delta", prefix);
    out->paper_norms = config_flag(c, "%ssweep.paper_norms", prefix);
    snprintf(path, sizeof path, "%ssweep.epsilons", prefix);
    if (out->epsilon_count > RUN_SWEEP || out->scale_count > RUN_SWEEP)
        TRY(config_fail(c, path, "%ssweep has %zu epsilons and %zu scales; expected at most %d of each",
                        prefix, out->epsilon_count, out->scale_count, RUN_SWEEP));
    if (out->epsilon_count > 0 && !run_has_sensitivity(owner))
        TRY(config_fail(c, path, "%s needs a sensitivity; expected sensitivity.pairs > 0", path));
    for (size_t i = 0; i < out->epsilon_count; i++)
        out->epsilons[i] = config_real(c, "%ssweep.epsilons[%zu]", prefix, i);
    for (size_t i = 0; i < out->scale_count; i++)
        out->scales[i] = config_real(c, "%ssweep.scales[%zu]", prefix, i);
    snprintf(path, sizeof path, "%ssweep.mechanisms", prefix);
    if (out->mechanism_count > RUN_SWEEP_MECHANISMS)
        TRY(config_fail(c, path, "%s has %zu entries; expected at most %d", path, out->mechanism_count,
                        RUN_SWEEP_MECHANISMS));
    for (size_t i = 0; i < out->mechanism_count; i++) {
        char padded[40];
        snprintf(path, sizeof path, "%ssweep.mechanisms[%zu]", prefix, i);
        TRY(run_config_copy(out->mechanisms[i], sizeof out->mechanisms[i], c, path));
        snprintf(padded, sizeof padded, " %s ", out->mechanisms[i]);
        if (!strstr(names, padded))
            TRY(config_fail(c, path,
                            "%s is '%s'; expected one of logistic, logistic-l2, laplace, gaussian, "
                            "gaussian-classical, knorm",
                            path, out->mechanisms[i]));
    }
done:
    return status;
}

/* Nothing that would end in a statement, and nothing that needs embeddings of one frozen encoder. */
static sotto_status check_fine_tune(const struct run_case *k, const struct config *c, const char *prefix)
{
    sotto_status status = SOTTO_OK;
    char path[128];
    snprintf(path, sizeof path, "%shead.fine_tune", prefix);
    if (strcmp(k->recipe.trainer, "adam") != 0 || k->recipe.hidden_count > FINE_TUNE_HIDDEN)
        TRY(config_fail(c, path, "%s needs trainer adam, with at most %d hidden layers", path,
                        FINE_TUNE_HIDDEN));
    if (k->pairs > 0 || k->protection_count > 0 || k->references > 0 ||
        k->sweep.epsilon_count + k->sweep.scale_count > 0)
        TRY(config_fail(c, path,
                        "%s: an encoder trained on private records has no privacy statement; omit "
                        "sensitivity, protect, shadow and sweep",
                        path));
done:
    return status;
}

static sotto_status read_case(struct run_case *out, struct run_config *config, const struct config *c,
                              const char *prefix)
{
    sotto_status status = SOTTO_OK;
    char path[128];
    struct sotto_head_recipe *recipe = &out->recipe;
    sotto_head_defaults(recipe);
    const char *trainer = config_text(c, "%shead.trainer", prefix);
    static const char *const trainers[] = {"adam", "sgd", "convex", "convex-sgd", "convex-lbfgs"};
    for (size_t i = 0; i < sizeof trainers / sizeof *trainers; i++)
        if (strcmp(trainer, trainers[i]) == 0)
            recipe->trainer = trainers[i];
    TRY(config_members_read(recipe, NULL, c, prefix, &config_head));
    recipe->seed = config->seed;
    out->pairs = config_whole(c, "%ssensitivity.pairs", prefix);
    double distinct = (double)out->records * ((double)out->records - 1) / 2;
    if ((double)out->pairs > distinct) { /* before pre-training, not after */
        snprintf(path, sizeof path, "%ssensitivity.pairs", prefix);
        TRY(config_fail(c, path, "%s is %zu, but %zu records have only %.0f distinct pairs", path, out->pairs,
                        out->records, distinct));
    }
    out->protection_count = config_length(c, "%sprotect", prefix);
    if (out->protection_count > RUN_PROTECTIONS) {
        snprintf(path, sizeof path, "%sprotect", prefix);
        TRY(config_fail(c, path, "%s has %zu entries; expected at most %d", path, out->protection_count,
                        RUN_PROTECTIONS));
    }
    for (size_t i = 0; i < out->protection_count; i++)
        TRY(read_protection(&out->protections[i], config, out, c, prefix, i));
    out->references = config_whole(c, "%sshadow.heads", prefix);
    out->known_start = config_flag(c, "%sshadow.known_start", prefix);
    if (out->references % 2 != 0 || out->references == 2) {
        snprintf(path, sizeof path, "%sshadow.heads", prefix);
        TRY(config_fail(c, path, "%s is %zu; expected 0 or an even number >= 4", path, out->references));
    }
    TRY(read_sweep(&out->sweep, out, c, prefix));
    out->fine_tune = config_flag(c, "%shead.fine_tune", prefix);
    if (out->fine_tune)
        TRY(check_fine_tune(out, c, prefix));
done:
    return status;
}

/* A resolved config writes the top-level sections out as well, so "used" means "differs from the
 * defaults". */
static sotto_status is_default(bool *out, const struct config *c, const struct config_row *rows,
                               const char *section)
{
    sotto_status status = SOTTO_OK;
    static const char empty[] = "name: x";
    struct config *plain = NULL;
    struct json *here = NULL, *there = NULL;
    char *here_text = NULL, *there_text = NULL;
    TRY(config_read(&plain, empty, strlen(empty), "defaults", rows, NULL));
    here = config_json(c, section);
    there = config_json(plain, section);
    *out = true;
    if (!here || !there) {
        *out = !here && !there;
        goto done;
    }
    TRY(json_dump(&here_text, here, JSON_SORTED));
    TRY(json_dump(&there_text, there, JSON_SORTED));
    *out = strcmp(here_text, there_text) == 0;
done:
    sotto_text_free(here_text);
    sotto_text_free(there_text);
    json_free(here);
    json_free(there);
    config_free(plain);
    return status;
}

static sotto_status read_cases(struct run_config *out, const struct config *c, const struct config_row *rows)
{
    sotto_status status = SOTTO_OK;
    static const char *const single_sections[] = {"head", "sensitivity", "protect", "shadow", "sweep"};
    size_t count = config_length(c, "cases"), used = 0;
    bool single = false;
    for (size_t i = 0; i < sizeof single_sections / sizeof *single_sections; i++) {
        bool unused;
        TRY(is_default(&unused, c, rows, single_sections[i]));
        single |= !unused;
    }
    if (count > RUN_CASES)
        TRY(config_fail(c, "cases", "cases has %zu entries; expected at most %d", count, RUN_CASES));
    if (count > 0 && single)
        TRY(config_fail(c, "cases",
                        "give either cases, or head, sensitivity, protect, shadow and sweep, but not both"));
    if (count == 0) {
        strcpy(out->cases[0].name, "head");
        out->cases[0].records = out->sizes[SPLIT_PRIVATE];
        out->case_count = 1;
        TRY(read_case(&out->cases[0], out, c, ""));
        goto done;
    }
    out->case_count = count;
    for (size_t i = 0; i < count; i++) {
        struct run_case *k = &out->cases[i];
        char prefix[32], path[64];
        snprintf(prefix, sizeof prefix, "cases[%zu].", i);
        snprintf(path, sizeof path, "%sname", prefix);
        TRY(run_config_copy(k->name, sizeof k->name, c, path));
        if (!is_plain_name(k->name))
            TRY(config_fail(c, path, "%s is '%s'; expected letters, digits, '.', '_', '-'", path, k->name));
        for (size_t j = 0; j < i; j++)
            if (strcmp(out->cases[j].name, k->name) == 0)
                TRY(config_fail(c, path, "%s '%s' is used twice", path, k->name));
        snprintf(path, sizeof path, "%stitle", prefix);
        if (config_text(c, "%s", path))
            TRY(run_config_copy(k->title, sizeof k->title, c, path));
        k->records = config_whole(c, "%srecords", prefix);
        TRY(read_case(k, out, c, prefix));
        size_t taken = k->protection_count > 0 ? used : 0; /* without a release no slice is needed */
        if (k->records > out->sizes[SPLIT_PRIVATE] - taken) {
            snprintf(path, sizeof path, "%srecords", prefix);
            TRY(config_fail(c, path,
                            "%s is %zu, but only %zu of data.private = %zu records are left, as cases with "
                            "releases use disjoint records",
                            path, k->records, out->sizes[SPLIT_PRIVATE] - taken, out->sizes[SPLIT_PRIVATE]));
        }
        used += k->protection_count > 0 ? k->records : 0;
    }
done:
    return status;
}

static sotto_status read_rest(struct run_config *out, const struct config *c)
{
    sotto_status status = SOTTO_OK;
    char path[64];
    out->attack_count = config_length(c, "attack.names");
    if (out->attack_count == 0 || out->attack_count > RUN_ATTACKS)
        TRY(config_fail(c, "attack.names", "attack.names has %zu entries; expected 1 to %d",
                        out->attack_count, RUN_ATTACKS));
    for (size_t i = 0; i < out->attack_count; i++) {
        snprintf(path, sizeof path, "attack.names[%zu]", i);
        TRY(run_config_copy(out->attacks[i], sizeof out->attacks[i], c, path));
    }
    out->draws = config_whole(c, "evaluate.draws");
    out->rate_count = config_length(c, "report.fpr");
    if (out->rate_count > RUN_RATES)
        TRY(config_fail(c, "report.fpr", "report.fpr has %zu entries; expected at most %d", out->rate_count,
                        RUN_RATES));
    for (size_t i = 0; i < out->rate_count; i++)
        out->rates[i] = config_real(c, "report.fpr[%zu]", i);
    out->confidence = config_real(c, "report.confidence");
    out->evaluate_encoder = config_flag(c, "encoder.evaluate");
done:
    return status;
}

sotto_status run_config_read(struct run_config *out, char **resolved, const char *path, const char *text,
                             const char *name, const char *const *overrides)
{
    sotto_status status = SOTTO_OK;
    struct config *c = NULL;
    struct config_rows rows;
    static const char *const parts[SPLIT_PARTS] = {"data.public", "data.private", "data.heldout",
                                                   "data.shadow"};
    run_config_rows(&rows);
    if (path)
        TRY(config_read_file(&c, path, rows.row, overrides));
    else
        TRY(config_read(&c, text, strlen(text), name, rows.row, overrides));
    *out = (struct run_config){.seed = config_whole(c, "seed")};
    TRY(run_config_copy(out->name, sizeof out->name, c, "name"));
    if (!is_plain_name(out->name))
        TRY(config_fail(c, "name", "name is '%s'; expected letters, digits, '.', '_', '-'", out->name));
    if (config_text(c, "title"))
        TRY(run_config_copy(out->title, sizeof out->title, c, "title"));
    TRY(run_config_copy(out->data_set, sizeof out->data_set, c, "data.set"));
    if (config_text(c, "data.public_set"))
        TRY(run_config_copy(out->public_set, sizeof out->public_set, c, "data.public_set"));
    for (int part = 0; part < SPLIT_PARTS; part++)
        out->sizes[part] = config_whole(c, "%s", parts[part]);
    out->classes = config_whole(c, "data.classes");
    TRY(read_pretrain(out, c));
    TRY(read_cases(out, c, rows.row));
    TRY(read_rest(out, c));
    TRY(config_dump(resolved, c));
done:
    config_free(c);
    return status;
}
