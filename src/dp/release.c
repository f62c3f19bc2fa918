/* The only place where privacy noise is drawn. Order matters: check everything, account, budget, ledger entry
 * on disk, and only then noise. A failure before the entry leaves no trace; after it the entry stays and is
 * charged. */
#include "base/sha256.h"
#include "dp/accountant.h"
#include "dp/certificate.h"
#include "dp/ledger.h"

#include <stdio.h>
#include <string.h>

static sotto_status check_vector(const float *vector, size_t n)
{
    if (n == 0)
        return status_fail(SOTTO_EINVAL, "release: the vector is empty");
    for (size_t i = 0; i < n; i++)
        if (!isfinite(vector[i]))
            return status_fail(SOTTO_EINVAL, "release: value %zu of %zu is %s; all must be finite", i, n,
                               isnan(vector[i]) ? "NaN" : "infinite");
    return SOTTO_OK;
}

static sotto_status account_for(struct sotto_account *account, const struct sotto_release *r,
                                const struct sotto_sensitivity *sensitivity)
{
    sotto_status status = SOTTO_OK;
    double scale = r->scale, delta = isnan(r->target.delta) ? 0 : r->target.delta;
    REQUIRE(!isnan(scale) || !isnan(r->target.epsilon),
            "release: neither a scale nor a target epsilon is given");
    if (isnan(scale))
        TRY(sotto_calibrate(&scale, r->mechanism, sensitivity, (struct sotto_dp){r->target.epsilon, delta}));
    TRY(sotto_account_release(account, r->mechanism, scale, sensitivity, delta, 1));
done:
    return status;
}

static sotto_status check_budget(const struct ledger *l, const struct sotto_account *a)
{
    if (isnan(l->budget.epsilon))
        return SOTTO_OK;
    /* Both columns count against the budget: a sampled sensitivity must not be a way around it. */
    struct ledger_sum sum = ledger_sum_both(&l->proved, &l->conditional);
    double spent = ledger_sum_epsilon(&sum, l->budget.delta);
    ledger_sum_add(&sum, a->pure_epsilon, a->zcdp_rho, a->epsilon.upper, a->delta);
    double total = ledger_sum_epsilon(&sum, l->budget.delta);
    if (total <= l->budget.epsilon)
        return SOTTO_OK;
    return status_fail(
        SOTTO_EBUDGET,
        "%s: the privacy budget (epsilon %g, delta %g) would be exceeded: spent %.6g, with this release %.6g",
        l->path, l->budget.epsilon, l->budget.delta, spent, total);
}

/* A budget that came with the release: recorded once, tightened at will, never raised. */
static sotto_status record_budget(struct ledger *l, struct sotto_dp budget)
{
    sotto_status status = SOTTO_OK;
    struct json *entry = NULL;
    if (budget.epsilon == 0)
        goto done;
    TRY(require_positive(budget.epsilon, "budget epsilon"));
    TRY(require_delta(budget.delta));
    if (budget.epsilon == l->budget.epsilon && budget.delta == l->budget.delta)
        goto done;
    if (budget.epsilon > l->budget.epsilon || budget.delta > l->budget.delta)
        FAIL(SOTTO_EBUDGET,
             "%s: holds a budget of epsilon %g, delta %g; a budget can only be tightened (got %g, %g)",
             l->path, l->budget.epsilon, l->budget.delta, budget.epsilon, budget.delta);
    entry = json_make_object();
    json_put_text(&entry, "schema", "sotto.ledger/1");
    json_put_text(&entry, "event", "budget");
    json_put_real(&entry, "epsilon", budget.epsilon);
    json_put_real(&entry, "delta", budget.delta);
    TRY(ledger_append(l, &entry));
done:
    json_free(entry);
    return status;
}

static void warn_about_delta(const struct sotto_release *r, double delta, const struct sotto_context *ctx)
{
    if (r->records > 0 && delta >= 1 / (double)r->records)
        context_log(ctx, SOTTO_LOG_WARNING, "delta %g is not smaller than 1/n = %g", delta,
                    1 / (double)r->records);
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

static struct json *ledger_entry(const struct sotto_release *r, const struct sotto_sensitivity *sensitivity,
                                 const struct sotto_account *account, size_t n, const char *sampler,
                                 const char *nonce)
{
    struct json *entry = json_make_object();
    json_put_text(&entry, "schema", "sotto.ledger/1");
    json_put_text(&entry, "event", "release");
    json_put_text(&entry, "fingerprint", r->fingerprint);
    json_put_text(&entry, "purpose", r->purpose);
    json_put_text(&entry, "mechanism", account->mechanism);
    json_put_real(&entry, "scale", account->scale);
    json_put_integer(&entry, "dimension", (int64_t)n);
    json_put(&entry, "sensitivity", certificate_sensitivity(sensitivity));
    certificate_put_account(&entry, account);
    json_put_text(&entry, "sampler", sampler);
    json_put_text(&entry, "randomness", r->insecure ? "noise was seeded: no privacy guarantee" : "os");
    json_put_text(&entry, "input_sha256", r->input_sha256);
    json_put_text(&entry, "input_nonce", nonce);
    return entry;
}

/* The vector on the lattice; refuses before anything is written down. */
static sotto_status round_to_lattice(int128 *q, const float *vector, size_t n, struct lattice lattice)
{
    for (size_t i = 0; i < n; i++)
        if (!lattice_index(&q[i], vector[i], lattice))
            return status_fail(
                SOTTO_EDOMAIN,
                "release: value %zu of %zu is 2^100 times larger than the lattice of the noise; "
                "the scale is too small for it",
                i, n);
    return SOTTO_OK;
}

sotto_status sotto_dp_release(char **certificate, float *vector, size_t n, const struct sotto_release *r,
                              const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    static const char sampler[] =
        "exact, integers only: floor of the continuous law on a power-of-two lattice";
    struct ledger ledger = {.fd = -1};
    struct json *entry = NULL, *text = NULL, *where = NULL;
    struct noise *stream = NULL;
    char *path = NULL, *made = NULL, nonce[SHA256_HEX], commitment[SHA256_HEX];
    struct sotto_sensitivity sensitivity = r->sensitivity;
    struct sotto_account account;
    const struct mechanism *m;
    int128 *q = NULL;
    uint128 *magnitude = NULL;
    sensitivity.dimension = n;
    TRY(mechanism_require(&m, r->mechanism));
    REQUIRE(m->magnitude, "mechanism '%s' has no release by sotto_dp_release()", m->name);
    REQUIRE((unsigned)sensitivity.source <= SOTTO_SENSITIVITY_PROVED,
            "release: unknown source of the sensitivity");
    REQUIRE(r->fingerprint && r->fingerprint[0],
            "release: the private data set has no fingerprint and no --dataset-id");
    TRY(check_vector(vector, n));
    TRY(account_for(&account, r, &sensitivity));
    struct lattice lattice = lattice_make(account.scale);
    q = base_alloc(n, sizeof *q);
    magnitude = base_alloc(n, sizeof *magnitude);
    if (!q || !magnitude)
        FAIL(SOTTO_ENOMEM, "release: out of memory");
    TRY(round_to_lattice(q, vector, n, lattice));
    TRY(r->insecure ? noise_open_insecure(&stream, r->insecure_seed) : noise_open(&stream));
    if (!r->ledger)
        TRY(ledger_default_path(&path, r->fingerprint));
    TRY(ledger_open(&ledger, r->ledger ? r->ledger : path, ctx));
    TRY(record_budget(&ledger, r->budget));
    TRY(check_budget(&ledger, &account));
    warn_about_delta(r, account.delta, ctx);
    commit_to(nonce, commitment, r->input_sha256, stream);
    text = certificate_make(
        &(struct certificate_facts){&account, &sensitivity, n, r->insecure != 0, sampler, lattice.exponent});
    entry = ledger_entry(r, &sensitivity, &account, n, sampler, nonce);
    TRY(ledger_append(&ledger, &entry));
    where = json_make_object();
    json_put_integer(&where, "index", (int64_t)ledger.entries - 1);
    json_put_text(&where, "hash", ledger.last);
    json_put(&text, "ledger", where);
    where = NULL;
    json_put_text(&text, "purpose", r->purpose);
    json_put_text(&text, "input_commitment", commitment);
    TRY(json_dump(&made, text, JSON_PRETTY));
    for (size_t i = 0; i < n; i++) /* all noise first: its running time depends on nothing private */
        magnitude[i] = m->magnitude(stream, lattice.m);
    for (size_t i = 0; i < n; i++)
        vector[i] = lattice_value(lattice_release(stream, q[i], magnitude[i]), lattice);
    *certificate = made;
    made = NULL;
done:
    if (q)
        base_wipe(q, n * sizeof *q);
    if (magnitude)
        base_wipe(magnitude, n * sizeof *magnitude);
    base_free(q);
    base_free(magnitude);
    base_free(made);
    json_free(entry);
    json_free(text);
    noise_close(stream);
    ledger_close(&ledger);
    base_free(path);
    return status;
}
