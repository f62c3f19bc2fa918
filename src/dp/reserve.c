/* Noise for many steps under one ledger entry. Order as in release.c: check, account, entry on disk, and only
 * then noise. Rounding a sum to the lattice of step r moves it by up to sqrt(n) r / 2 in either of two
 * adjacent data sets, so what is accounted is a noise multiplier of scale / (max_grad_norm + sqrt(n) r). */
#include "base/memory.h"
#include "dp/accountant.h"
#include "dp/certificate.h"
#include "dp/ledger_account.h"

#include <stdlib.h>
#include <string.h>

static const char sampler[] = "exact, integers only: floor of the continuous law on a power-of-two lattice";

struct sotto_steps {
    const struct mechanism *mechanism;
    struct noise *stream;
    struct lattice lattice;
    size_t dimension, reserved, used;
    int128 *q, *drawn;
    char entry[65];
};

void sotto_steps_close(struct sotto_steps *s)
{
    if (!s)
        return;
    if (s->q)
        base_wipe(s->q, s->dimension * sizeof *s->q);
    if (s->drawn)
        base_wipe(s->drawn, s->dimension * sizeof *s->drawn);
    noise_close(s->stream);
    base_free(s->q);
    base_free(s->drawn);
    base_free(s);
}

size_t sotto_steps_used(const struct sotto_steps *s)
{
    return s->used;
}

const char *sotto_steps_entry(const struct sotto_steps *s)
{
    return s->entry;
}

static sotto_status check(const struct sotto_reserve *r)
{
    sotto_status status = SOTTO_OK;
    TRY(require_positive(r->max_grad_norm, "max_grad_norm"));
    TRY(require_positive(r->sampled.noise_multiplier, "noise_multiplier"));
    TRY(require_positive(r->sampled.noise_multiplier * r->max_grad_norm, "noise_multiplier * max_grad_norm"));
    REQUIRE(r->dimension > 0, "reserve: the dimension is 0; there is nothing to add noise to");
    REQUIRE(r->fingerprint && r->fingerprint[0],
            "reserve: the private data set has no fingerprint and no --dataset-id");
done:
    return status;
}

/* As accounted: with the clipping norm enlarged by the rounding. */
static double effective_multiplier(const struct sotto_reserve *r, double scale)
{
    struct interval rounding = iv_scale(iv_sqrt(iv((double)r->dimension)), lattice_step(scale));
    return iv_div(iv(scale), iv_add(iv(r->max_grad_norm), rounding)).lo;
}

static struct json *entry_of(const struct sotto_reserve *r, const struct sotto_account *account, double scale)
{
    const struct sotto_sensitivity clipped = {
        .l1 = NAN, .l2 = r->max_grad_norm, .source = SOTTO_SENSITIVITY_CLIPPED};
    struct json *entry = json_make_object();
    json_put_text(&entry, "schema", "sotto.ledger/1");
    json_put_text(&entry, "event", "reserve");
    json_put_text(&entry, "fingerprint", r->fingerprint);
    json_put_text(&entry, "purpose", r->purpose);
    json_put_text(&entry, "mechanism", account->mechanism);
    json_put_real(&entry, "scale", scale);
    json_put_real(&entry, "noise_multiplier", account->scale);
    json_put_real(&entry, "sample_rate", account->sample_rate);
    json_put_integer(&entry, "steps", (int64_t)r->sampled.steps);
    json_put_integer(&entry, "first_step", (int64_t)r->first_step);
    json_put_integer(&entry, "dimension", (int64_t)r->dimension);
    json_put(&entry, "sensitivity", certificate_sensitivity(&clipped));
    certificate_put_account(&entry, account);
    json_put_text(&entry, "sampler", sampler);
    json_put_text(&entry, "randomness", r->insecure ? "noise was seeded: no privacy guarantee" : "os");
    return entry;
}

static sotto_status record(struct sotto_steps *s, const struct sotto_reserve *r,
                           const struct sotto_account *account, double scale, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct ledger ledger = {.fd = -1};
    struct json *entry = NULL;
    char *path = NULL;
    if (!r->ledger)
        TRY(ledger_default_path(&path, r->fingerprint));
    TRY(ledger_open(&ledger, r->ledger ? r->ledger : path, ctx));
    TRY(ledger_record_budget(&ledger, r->budget));
    entry = entry_of(r, account, scale);
    TRY(ledger_check_budget(&ledger, account, entry));
    ledger_warn_about_delta(r->records, account->delta, ctx);
    TRY(ledger_append(&ledger, &entry));
    memcpy(s->entry, ledger.last, sizeof s->entry);
done:
    json_free(entry);
    ledger_close(&ledger);
    base_free(path);
    return status;
}

sotto_status sotto_dp_reserve(struct sotto_steps **out, const struct sotto_reserve *r,
                              const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_sampled sampled = r->sampled;
    struct sotto_account account;
    struct sotto_steps *s = NULL;
    TRY(check(r));
    double scale = r->sampled.noise_multiplier * r->max_grad_norm;
    sampled.noise_multiplier = effective_multiplier(r, scale);
    TRY(sotto_account_sampled(&account, &sampled));
    s = base_alloc(1, sizeof *s);
    if (!s)
        FAIL(SOTTO_ENOMEM, "reserve: out of memory");
    s->mechanism = mechanism_find(sampled.mechanism);
    s->lattice = lattice_make(scale);
    s->dimension = r->dimension;
    s->reserved = sampled.steps;
    s->q = base_alloc(r->dimension, sizeof *s->q);
    s->drawn = base_alloc(r->dimension, sizeof *s->drawn);
    if (!s->q || !s->drawn)
        FAIL(SOTTO_ENOMEM, "reserve: out of memory");
    TRY(r->insecure ? noise_open_insecure(&s->stream, r->insecure_seed) : noise_open(&s->stream));
    TRY(record(s, r, &account, scale, ctx));
    *out = s;
    s = NULL;
done:
    sotto_steps_close(s);
    return status;
}

sotto_status sotto_dp_step(struct sotto_steps *s, float *sum)
{
    sotto_status status = SOTTO_OK;
    if (s->used == s->reserved)
        FAIL(SOTTO_EBUDGET, "step: all %zu reserved steps are used; reserve more before drawing noise",
             s->reserved);
    for (size_t i = 0; i < s->dimension; i++) {
        REQUIRE(isfinite(sum[i]), "step: value %zu of %zu is %s; all must be finite", i, s->dimension,
                isnan(sum[i]) ? "NaN" : "infinite");
        if (!lattice_index(&s->q[i], sum[i], s->lattice))
            FAIL(SOTTO_EDOMAIN, "step: value %zu of %zu is 2^100 times larger than the lattice of the noise",
                 i, s->dimension);
    }
    s->used++; /* before the noise: a step that is interrupted is a step that is used */
    for (size_t i = 0; i < s->dimension; i++)
        s->drawn[i] = lattice_release(s->stream, 0, s->mechanism->magnitude(s->stream, s->lattice.m));
    for (size_t i = 0; i < s->dimension; i++)
        sum[i] = lattice_value(2 * s->q[i] + s->drawn[i], s->lattice);
done:
    return status;
}
