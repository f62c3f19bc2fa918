/* The only door to privacy noise. Order matters: check everything, account, budget, ledger entry on disk, and
 * only then a stream to draw noise from. A failure before the entry leaves no trace; after it the entry stays
 * and is charged. */
#include "dp/release/release.h"
#include "base/sha256.h"
#include "dp/account/risk.h"
#include "dp/ledger/charge.h"
#include "dp/ledger/ledger_plan.h"
#include "dp/ledger/spend.h"
#include "sotto/release.h"

#include <stdio.h>
#include <string.h>

static sotto_status account_for(struct sotto_account *account, const struct sotto_release *r,
                                const struct mechanism *m, const struct sotto_sensitivity *sensitivity,
                                int bits, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    double scale = r->scale, delta = r->target.delta == SOTTO_DELTA_PURE ? 0 : r->target.delta;
    TRY(risk_require_alone(&r->risk, spend_given(scale) || spend_given(r->target.epsilon)));
    REQUIRE(spend_given(scale) || spend_given(r->target.epsilon) || risk_given(&r->risk),
            "release: neither a scale nor a target epsilon is given; give one of them");
    if (risk_given(&r->risk))
        TRY(calibrate_risk_on(&scale, NULL, m->name, sensitivity, &r->risk, bits, ctx));
    else if (!spend_given(scale))
        TRY(calibrate_on(&scale, m->name, sensitivity, (struct sotto_dp){r->target.epsilon, delta}, bits,
                         ctx));
    TRY(account_to_charge(account, m, scale, sensitivity, delta, bits, ctx));
done:
    return status;
}

/* The lattice of the release. */
static sotto_status choose_lattice(int *bits, const struct sotto_release *r, const struct mechanism *m)
{
    sotto_status status = SOTTO_OK;
    *bits = r->flat_doubt && m->kind == RELEASE_LATTICE ? LATTICE_BITS_FLAT : mechanism_lattice(m);
    REQUIRE(mechanism_is_discretised(m) || !r->flat_doubt,
            "mechanism '%s' has no flat doubt; expected logistic, laplace, gaussian or discrete-laplace",
            m->name);
done:
    return status;
}

/* SHA-256 over a random nonce, kept in the ledger, and the input's hash. The bare hash of the unprotected
 * weights is a function of the private data that anyone could test guesses against, so it never leaves the
 * ledger. */
static void commit_to(char nonce[SHA256_HEX], char commitment[SHA256_HEX], const char *input,
                      struct noise *stream)
{
    unsigned char bytes[32];
    noise_bytes(stream, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(nonce + 2 * i, 3, "%02x", bytes[i]);
    struct sha256 sum;
    sha256_init(&sum);
    sha256_update(&sum, nonce, 64);
    sha256_update(&sum, input ? input : "", input ? strlen(input) : 0);
    sha256_hex(&sum, commitment);
}

static struct charge_entry entry_of(const struct release_plan *p, const char *nonce)
{
    const struct sotto_release *r = p->release;
    return (struct charge_entry){.event = LEDGER_RELEASE,
                                 .dataset_id = p->dataset_id,
                                 .purpose = r->spend.purpose,
                                 .condition = p->condition[0] ? p->condition : NULL,
                                 .records = r->records,
                                 .unit = &p->unit,
                                 .sensitivity = &p->sensitivity,
                                 .account = &p->account,
                                 .sampler = p->sampler,
                                 .randomness = spend_randomness(&r->spend),
                                 .dimension = p->n,
                                 .input_sha256 = r->input_sha256,
                                 .input_nonce = nonce};
}

/* Why a mechanism of that kind cannot be drawn by the function that was called. */
static const char *const other_doors[] = {
    [RELEASE_LATTICE] = "adds noise to a vector; expected exponential or randomised-response here",
    [RELEASE_INTEGER] = "adds noise to a vector; expected exponential or randomised-response here",
    [RELEASE_VECTOR] = "adds noise to a vector; expected exponential or randomised-response here",
    [RELEASE_CHOICE] = "selects one of several candidates by their scores; it adds no noise to a vector",
    [RELEASE_LABELS] = "replaces labels; it adds no noise to a vector",
    [RELEASE_MEDIAN] = "releases the median of records; it adds no noise to a vector",
    [RELEASE_MINIMUM] = "trains a head (sotto head --trainer objective); it adds no noise to a vector",
    [RELEASE_NONE] = "is for comparing only; 'gaussian' releases the same noise with its exact guarantee"};

sotto_status release_plan(struct release_plan *plan, const struct sotto_release *r, size_t n, unsigned kinds,
                          const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct release_plan p = {.release = r, .sensitivity = sensitivity_normal(&r->sensitivity), .n = n};
    p.sensitivity.dimension = n;
    TRY(mechanism_require(&p.mechanism, r->mechanism));
    REQUIRE(kinds >> p.mechanism->kind & 1, "mechanism '%s' %s", p.mechanism->name,
            other_doors[p.mechanism->kind]);
    REQUIRE((unsigned)r->sensitivity.source <= SOTTO_SENSITIVITY_PROVED,
            "release: the source of the sensitivity is unknown; expected a value of enum "
            "sotto_sensitivity_source");
    REQUIRE(n > 0, "release: 0 values; expected at least one");
    bool one_by_one = p.mechanism->kind == RELEASE_LABELS || p.mechanism->kind == RELEASE_MEDIAN;
    struct sotto_spend spend = r->spend;
    spend.planned = NULL; /* which release_record() sees to */
    TRY(spend_check(&p.dataset_id, p.condition, one_by_one ? NULL : &p.unit, &spend));
    spend_state_shapings(p.shaped, p.dataset_id, &r->spend);
    unit_widen(&p.sensitivity, p.unit.rows);
    TRY(choose_lattice(&p.lattice_bits, r, p.mechanism));
    TRY(account_for(&p.account, r, p.mechanism, &p.sensitivity, p.lattice_bits, ctx));
    *plan = p;
done:
    return status;
}

static struct certificate_facts facts_of(const struct release_plan *p)
{
    return (struct certificate_facts){.account = &p->account,
                                      .sensitivity = &p->sensitivity,
                                      .dimension = p->n,
                                      .seeded = p->release->spend.insecure != 0,
                                      .sampler = p->sampler,
                                      .lattice_exponent = p->lattice_exponent,
                                      .records = p->release->records,
                                      .unit = &p->unit,
                                      .condition = p->condition,
                                      .shaped_by = p->shaped,
                                      .purpose = p->release->spend.purpose};
}

static sotto_status spend_slot(struct sotto_certificate *made, struct charge *charge,
                               const struct release_plan *p, const char *nonce)
{
    sotto_status status = SOTTO_OK;
    const struct charge_entry entry = entry_of(p, nonce);
    struct plan_slot slot;
    TRY(charge_spend_slot(&slot, charge, &entry, p->release->spend.planned));
    certificate_enter(made, slot.charge, charge->ledgers[0].last);
    certificate_add_plan(made, slot.plan, slot.slot);
done:
    return status;
}

static sotto_status charge_release(struct sotto_certificate *made, struct charge *charge,
                                   const struct release_plan *p, const char *nonce, size_t followed_by,
                                   const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct charge_entry entry = entry_of(p, nonce);
    entry.followed_by = followed_by;
    TRY(charge_enter(charge, &entry, ctx));
    certificate_enter(made, charge->ledgers[0].charges - 1, charge->ledgers[0].last);
done:
    return status;
}

sotto_status release_enter(struct sotto_certificate **certificate, struct charge *charge,
                           const struct release_plan *p, struct noise *stream, size_t followed_by,
                           const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_release *r = p->release;
    const struct certificate_facts facts = facts_of(p);
    struct ledger *ledger = &charge->ledgers[0];
    struct sotto_certificate *made = NULL;
    char nonce[SHA256_HEX];
    TRY(ledger_name_budget(ledger, spend_budget(&r->spend), p->account.delta));
    ledger_warn_about_delta(r->records, p->account.delta, ctx);
    TRY(certificate_new(&made, &facts));
    TRY(certificate_name_ledger(made, ledger->path));
    commit_to(nonce, made->input_commitment, r->input_sha256, stream);
    TRY(r->spend.planned ? spend_slot(made, charge, p, nonce)
                         : charge_release(made, charge, p, nonce, followed_by, ctx));
    *certificate = made;
    made = NULL;
done:
    sotto_certificate_free(made);
    return status;
}

sotto_status release_record(struct noise **stream, struct sotto_certificate **certificate,
                            const struct release_plan *p, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_spend *spend = &p->release->spend;
    struct charge charge = {.lock = {.fd = -1}};
    struct noise *opened = NULL;
    if (spend->planned)
        TRY(spend_require_slot_alone(spend));
    TRY(spend_noise(&opened, spend));
    TRY(charge_open(&charge, p->dataset_id, spend->ledger, spend->source, ctx));
    TRY(release_enter(certificate, &charge, p, opened, 0, ctx));
    *stream = opened;
    opened = NULL;
done:
    noise_close(opened);
    charge_close(&charge);
    return status;
}

sotto_status planned_event_prepare(struct planned_event *e, const struct privacy_unit *unit)
{
    e->why[0] = '\0';
    e->charged = e->event;
    const sotto_status status = plan_prepare(&(struct event_list){&e->charged, 1}, unit);
    if (status != SOTTO_EINVAL && status != SOTTO_ENOTSUP)
        return status;
    const char *text = sotto_error_text(), *behind = strstr(text, ": "); /* "events[0]: " */
    snprintf(e->why, RELEASE_WHY, "no plan can hold it (%s)",
             strncmp(text, "events[", 7) == 0 && behind ? behind + 2 : text);
    return SOTTO_OK;
}

/* In a plan other noise than Gaussian counts by L1 alone, which in many dimensions is far more than it is by itself. */
sotto_status release_as_event(struct planned_event *out, const struct sotto_release *r, size_t n,
                              unsigned kinds, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct release_plan p;
    struct sotto_account own, planned;
    TRY(release_plan(&p, r, n, kinds, ctx));
    const struct sotto_sensitivity s = sensitivity_normal(&r->sensitivity);
    struct sotto_event asked = {.mechanism = p.mechanism->name,
                                .count = 1,
                                .scale = p.account.scale,
                                .l1 = s.l1,
                                .l2 = s.l2,
                                .dimension = n,
                                .value_step = s.value_step,
                                .adjacency = SOTTO_REPLACE_ONE},
                       wide = asked;
    wide.l1 = p.sensitivity.l1;
    wide.l2 = p.sensitivity.l2;
    *out =
        (struct planned_event){.event = asked, .epsilon = p.account.epsilon.upper, .delta = p.account.delta};
    TRY(planned_event_prepare(out, &p.unit));
    if (out->why[0])
        goto done;
    const double at = out->delta > 0 ? out->delta : 1e-6; /* beside others it will have one */
    TRY(sotto_account_events(&own, &wide, 1, at, SOTTO_REPLACE_ONE, ctx));
    TRY(sotto_account_events(&planned, &out->charged, 1, at, SOTTO_REPLACE_ONE, ctx));
    if (planned.epsilon.upper > own.epsilon.upper * (1 + 1e-6))
        snprintf(
            out->why, RELEASE_WHY,
            "a plan counts no L2 norm of %s noise, so it would cost epsilon %.6g at delta %g, and %.6g by "
            "itself",
            p.mechanism->name, planned.epsilon.upper, at, own.epsilon.upper);
done:
    return status;
}
