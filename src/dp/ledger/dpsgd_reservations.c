/* Every reservation is an entry of its own; those of one run carry its name. Reading them back from the
 * ledger, and not from what the run remembers, is what charges steps that were interrupted and forgotten. */
#include "dp/ledger/dpsgd_reservations.h"
#include "dp/account/account_pld.h"
#include "dp/noise/lattice.h"
#include "dp/ledger/ledger.h"
#include "dp/ledger/ledger_lines.h"
#include "base/memory.h"
#include "dp/mechanism/mechanism.h"
#include "num/interval.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const noise_modes[] = {"exact", "fast"};
static const char label_mechanism[] = "randomised-response";

const char *sotto_noise_mode_name(enum sotto_noise_mode mode)
{
    return (unsigned)mode <= SOTTO_NOISE_FAST ? noise_modes[mode] : "unknown";
}

sotto_status sotto_noise_mode_find(enum sotto_noise_mode *out, const char *name)
{
    for (int i = 0; i <= SOTTO_NOISE_FAST; i++)
        if (strcmp(name, noise_modes[i]) == 0) {
            *out = (enum sotto_noise_mode)i;
            return SOTTO_OK;
        }
    return status_fail(SOTTO_EINVAL, "noise mode '%.40s' is unknown; expected exact or fast", name);
}

double run_multiplier(const struct dpsgd_facts *f)
{
    struct interval n = iv((double)f->dimension), moved = f->clipping == SOTTO_NORM_L1 ? n : iv_sqrt(n);
    struct interval rounding = iv_scale(moved, lattice_step(f->scale));
    return iv_div(iv(f->scale), iv_add(iv(f->max_grad_norm), rounding)).lo;
}

void dpsgd_facts_put(struct json **object, const struct dpsgd_facts *f)
{
    json_put_text(object, "mechanism", f->mechanism);
    json_put_real(object, "scale", f->scale);
    json_put_real(object, "noise_multiplier", run_multiplier(f));
    json_put_real(object, "max_grad_norm", f->max_grad_norm);
    json_put_text(object, "clipping", norm_name(f->clipping));
    json_put_text(object, "sampling", sotto_sampling_name(f->sampling));
    json_put_real(object, "sample_rate", f->sample_rate);
    json_put_integer(object, "dimension", (int64_t)f->dimension);
    json_put_text(object, "noise_mode", sotto_noise_mode_name(f->noise_mode));
    if (f->condition)
        json_put_text(object, "condition", f->condition);
    if (f->inputs_only)
        json_put_text(object, "protects", "inputs");
    if (f->label_scale > 0) {
        struct json *labels = json_make_object();
        json_put_text(&labels, "mechanism", label_mechanism);
        json_put_real(&labels, "scale", f->label_scale);
        json_put_text(&labels, "entry", f->label_entry);
        json_put(object, "labels", labels);
    }
}

/* NAN: no bound, and none of the sum. */
static double plus(double x, double y)
{
    return isnan(x) ? x : iv_add(iv(x), iv(y)).hi;
}

/* A replaced record replaces an input and a label, which are released apart: their losses add up. */
static sotto_status add_labels(struct sotto_account *a, const struct dpsgd_facts *f)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_sensitivity one = {.l1 = 1, .l2 = NAN, .source = SOTTO_SENSITIVITY_PROVED};
    struct sotto_account labels;
    TRY(sotto_account_release(&labels, label_mechanism, f->label_scale, &one, 0, 1, NULL));
    a->epsilon.upper = plus(a->epsilon.upper, labels.epsilon.upper);
    for (size_t i = 0; i < a->bound_count; i++)
        a->bounds[i].epsilon = plus(a->bounds[i].epsilon, labels.epsilon.upper);
    a->pure_epsilon = plus(a->pure_epsilon, labels.pure_epsilon);
    a->zcdp_rho = plus(a->zcdp_rho, labels.zcdp_rho);
    snprintf(a->adjacency, sizeof a->adjacency, "replace-one");
done:
    return status;
}

static void name_zero_out(char adjacency[16])
{
    if (strcmp(adjacency, "add-remove") == 0)
        snprintf(adjacency, 16, "zero-out");
}

sotto_status run_complete_account(struct sotto_account *account, const struct dpsgd_facts *f)
{
    name_zero_out(account->adjacency);
    name_zero_out(account->other_adjacency);
    if (f->inputs_only) {
        snprintf(account->adjacency, sizeof account->adjacency, "replace-input");
        account->other_adjacency[0] = '\0'; /* no input counts as nothing */
    }
    return f->label_scale > 0 ? add_labels(account, f) : SOTTO_OK;
}

const char *run_sampler(const struct dpsgd_facts *f)
{
    return f->noise_mode == SOTTO_NOISE_FAST
               ? RUN_FAST_SAMPLER ": 48 or 64 bits of a ChaCha20 stream for each value, in single precision"
               : "exact, integers only: floor of the continuous law on a power-of-two lattice";
}

void run_put_note(struct sotto_account *account, const struct dpsgd_facts *f)
{
    if (f->noise_mode == SOTTO_NOISE_FAST) /* the weightier of two notes */
        snprintf(account->note, sizeof account->note,
                 "fast noise: proved for real numbers; floating-point and timing attacks, and that it ends "
                 "at %.3g scales, are not excluded",
                 fast_reach(mechanism_find(f->mechanism)->fast));
}

static sotto_status get_labels(struct dpsgd_facts *f, const struct json *object, const char *name)
{
    sotto_status status = SOTTO_OK;
    f->label_scale = 0;
    f->label_entry = NULL;
    if (!json_member(object, "labels"))
        goto done;
    TRY(json_get_real(&f->label_scale, object, name, "labels.scale"));
    TRY(json_get_text(&f->label_entry, object, name, "labels.entry"));
    if (!f->inputs_only || !(f->label_scale > 0))
        FAIL(SOTTO_EFORMAT, "%s: 'labels' has no scale above 0, or is in a run that does not protect inputs",
             name);
done:
    return status;
}

sotto_status dpsgd_facts_get(struct dpsgd_facts *out, const struct json *object, const char *name)
{
    sotto_status status = SOTTO_OK;
    struct dpsgd_facts f;
    const char *clipping, *mode = json_text(json_find(object, "noise_mode")),
                          *protects = json_text(json_find(object, "protects")),
                          *sampling = json_text(json_find(object, "sampling"));
    TRY(json_get_text(&f.mechanism, object, name, "mechanism"));
    TRY(json_get_real(&f.scale, object, name, "scale"));
    TRY(json_get_real(&f.max_grad_norm, object, name, "max_grad_norm"));
    TRY(json_get_text(&clipping, object, name, "clipping"));
    TRY(json_get_real(&f.sample_rate, object, name, "sample_rate"));
    TRY(json_get_size(&f.dimension, object, name, "dimension"));
    if (strcmp(clipping, "l1") != 0 && strcmp(clipping, "l2") != 0)
        FAIL(SOTTO_EFORMAT, "%s: 'clipping' is neither l1 nor l2", name);
    f.clipping = strcmp(clipping, "l1") == 0 ? SOTTO_NORM_L1 : SOTTO_NORM_L2;
    if (sotto_noise_mode_find(&f.noise_mode, mode ? mode : "exact") != SOTTO_OK) /* none: an early version */
        FAIL(SOTTO_EFORMAT, "%s: 'noise_mode' is neither exact nor fast", name);
    f.condition = json_text(json_find(object, "condition"));
    f.inputs_only = protects != NULL;
    if (protects && strcmp(protects, "inputs") != 0)
        FAIL(SOTTO_EFORMAT, "%s: 'protects' is not inputs", name);
    if (sotto_sampling_find(&f.sampling, sampling ? sampling : "poisson") != SOTTO_OK)
        FAIL(SOTTO_EFORMAT, "%s: 'sampling' is neither poisson nor fixed", name);
    TRY(get_labels(&f, object, name));
    *out = f;
done:
    return status;
}

sotto_status dpsgd_reservations_make_room(struct dpsgd_reservations *run)
{
    sotto_status status = SOTTO_OK;
    struct dpsgd_reservation *more = NULL;
    size_t capacity = run->capacity ? 2 * run->capacity : 8;
    if (run->count < run->capacity)
        goto done;
    NEW(more, capacity);
    if (run->count)
        memcpy(more, run->items, run->count * sizeof *more);
    base_free(run->items);
    run->items = more;
    run->capacity = capacity;
done:
    return status;
}

void dpsgd_reservations_add(struct dpsgd_reservations *run, const struct dpsgd_reservation *one)
{
    run->items[run->count++] = *one;
    run->charged += one->steps;
}

sotto_status dpsgd_reservations_copy(struct dpsgd_reservations *out, const struct dpsgd_reservations *run)
{
    sotto_status status = SOTTO_OK;
    struct dpsgd_reservations copy = *run;
    copy.items = NULL;
    copy.capacity = run->count ? run->count : 1;
    NEW(copy.items, copy.capacity);
    if (run->count)
        memcpy(copy.items, run->items, run->count * sizeof *run->items);
    *out = copy;
done:
    return status;
}

struct json *dpsgd_reservations_json(const struct dpsgd_reservations *run)
{
    struct json *list = json_make_array();
    for (size_t i = 0; i < run->count; i++) {
        struct json *one = json_make_object();
        json_put_integer(&one, "index", (int64_t)run->items[i].entry);
        json_put_text(&one, "hash", run->items[i].hash);
        json_put_integer(&one, "first_step", (int64_t)run->items[i].first_step);
        json_put_integer(&one, "steps", (int64_t)run->items[i].steps);
        json_push(&list, one);
    }
    return list;
}

void dpsgd_reservations_free(struct dpsgd_reservations *run)
{
    base_free(run->items);
    run->items = NULL;
}

static bool same_facts(const struct dpsgd_facts *a, const struct dpsgd_facts *b)
{
    return strcmp(a->mechanism, b->mechanism) == 0 && a->scale == b->scale &&
           a->max_grad_norm == b->max_grad_norm && a->sample_rate == b->sample_rate &&
           a->dimension == b->dimension && a->clipping == b->clipping && a->noise_mode == b->noise_mode &&
           a->inputs_only == b->inputs_only && a->sampling == b->sampling &&
           a->label_scale == b->label_scale &&
           (a->label_scale == 0 || strcmp(a->label_entry, b->label_entry) == 0);
}

/* What paid for steps under a condition pays for none without it; the other way round is honest. */
static bool same_condition(const struct dpsgd_facts *entry, const struct dpsgd_facts *facts)
{
    return !entry->condition || (facts->condition && strcmp(entry->condition, facts->condition) == 0);
}

/* One line of the ledger; others than this run's reservations are passed over. */
static sotto_status take_line(struct dpsgd_reservations *run, const struct json *entry, int64_t last,
                              const char *name, const struct dpsgd_facts *facts)
{
    sotto_status status = SOTTO_OK;
    struct dpsgd_facts found;
    struct dpsgd_reservation one = {0};
    const char *id = json_text(json_find(entry, "run")), *randomness;
    if (!id || strcmp(id, run->id) != 0)
        goto done;
    TRY(json_get_size(&one.entry, entry, name, "index"));
    if ((int64_t)one.entry > last)
        goto done;
    TRY(dpsgd_facts_get(&found, entry, name));
    TRY(json_get_text_into(one.hash, sizeof one.hash, entry, name, "hash"));
    TRY(json_get_text(&randomness, entry, name, "randomness"));
    TRY(json_get_size(&one.first_step, entry, name, "first_step"));
    TRY(json_get_size(&one.steps, entry, name, "steps"));
    REQUIRE(same_condition(&found, facts),
            "run %s: entry %zu of %s is conditional on '%s'; expected the same condition in every "
            "reservation of the run",
            run->id, one.entry, name, found.condition);
    REQUIRE(same_facts(&found, facts),
            "run %s: entry %zu of %s has another mechanism, scale, norm, sampling, dimension, noise mode, "
            "adjacency or release of labels; expected the same in every reservation of the run",
            run->id, one.entry, name);
    run->seeded = run->seeded || strcmp(randomness, "os") != 0;
    TRY(dpsgd_reservations_make_room(run));
    dpsgd_reservations_add(run, &one);
done:
    return status;
}

sotto_status dpsgd_reservations_read(struct dpsgd_reservations *out, const char *ledger, const char *id,
                                     int64_t last, const struct dpsgd_facts *facts)
{
    sotto_status status = SOTTO_OK;
    struct dpsgd_reservations run = {.items = NULL};
    const struct json *entry;
    struct ledger_lines lines;
    memcpy(run.id, id, sizeof run.id);
    TRY(ledger_lines_open(&lines, ledger));
    TRY(ledger_lines_next(&entry, &lines));
    while (entry) {
        TRY(take_line(&run, entry, last, ledger, facts));
        TRY(ledger_lines_next(&entry, &lines));
    }
    *out = run;
    run.items = NULL;
done:
    ledger_lines_close(&lines);
    dpsgd_reservations_free(&run);
    return status;
}

sotto_status run_labels_read(struct run_labels *out, const char *ledger, const char *hash)
{
    sotto_status status = SOTTO_OK;
    struct run_labels found;
    const char *mechanism, *randomness;
    const struct json *entry;
    struct ledger_lines lines;
    TRY(ledger_lines_open(&lines, ledger));
    TRY(ledger_lines_find(&entry, &lines, hash));
    mechanism = entry ? json_text(json_find(entry, "mechanism")) : NULL;
    REQUIRE(
        mechanism && strcmp(mechanism, label_mechanism) == 0,
        "%s contains no release of labels with the hash %.16s...; use the ledger in which it was recorded",
        ledger, hash);
    TRY(json_get_real(&found.scale, entry, ledger, "scale"));
    TRY(json_get_size(&found.count, entry, ledger, "dimension"));
    TRY(json_get_text(&randomness, entry, ledger, "randomness"));
    found.seeded = strcmp(randomness, "os") != 0;
    *out = found;
done:
    ledger_lines_close(&lines);
    return status;
}
