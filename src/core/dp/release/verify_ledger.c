/* The ledger: its chain, the certificate's own entry in it, and what the two must say alike. */
#include "base/file.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "dp/ledger/ledger.h"
#include "dp/ledger/ledger_lines.h"
#include "dp/ledger/ledger_offers.h"
#include "dp/ledger/ledger_output.h"
#include "dp/ledger/ledger_plan.h"
#include "dp/ledger/ledger_runs.h"
#include "dp/release/verification.h"

#include <string.h>

enum { CERTIFICATE_LIMIT = 64 << 20 /* bytes */ };

/* The labels that the run counts on were released as the certificate says. */
static sotto_status check_labels(struct verification *v, const char *path)
{
    const struct certificate_claims *f = &v->claims;
    struct run_labels labels = {0};
    if (!(f->run_claims.facts.label_scale > 0))
        return SOTTO_OK;
    sotto_status status = run_labels_read(&labels, path, f->run_claims.facts.label_entry);
    bool answered = status == SOTTO_OK || status == SOTTO_EINVAL; /* else memory or a file failed */
    if (answered)
        verify_check(
            v, "labels", labels.scale == f->run_claims.facts.label_scale && !(labels.seeded && f->claimed),
            "released at scale %g, the certificate says %g", labels.scale, f->run_claims.facts.label_scale);
    return answered ? SOTTO_OK : status;
}

/* The ledger knows exactly the reservations that the certificate lists, up to its own. */
static sotto_status check_reservations(struct verification *v, const char *path)
{
    sotto_status status = SOTTO_OK;
    const struct certificate_claims *f = &v->claims;
    struct dpsgd_reservations run = {.items = NULL};
    bool same;
    status = dpsgd_reservations_read(&run, path, f->run, f->entry, f->by_line, &f->run_claims.facts);
    if (status == SOTTO_EINVAL || status == SOTTO_EFORMAT) {
        verify_check(v, "reservations", false, "%s", sotto_error_text());
        status = SOTTO_OK;
        goto done;
    }
    TRY(status);
    TRY(verify_reservations(&same, v, &run));
    const struct dpsgd_facts *facts = &f->run_claims.facts;
    bool as_coarse =
        facts->lattice_exponent >= run.lattice_exponent && (run.on_lattice || !facts->on_lattice);
    verify_check(v, "lattice of the run", run.count == 0 || as_coarse,
                 "the coarsest of the ledger is 2^%d%s, the certificate's 2^%d%s", run.lattice_exponent,
                 run.on_lattice ? ", not rounded to" : "", facts->lattice_exponent,
                 facts->on_lattice ? ", not rounded to" : "");
    verify_check(v, "reservations", same && !(run.seeded && f->claimed),
                 "the ledger holds %zu of this run, %zu steps, noise %s", run.count, run.charged,
                 run.seeded ? "seeded" : "from the operating system");
done:
    dpsgd_reservations_free(&run);
    return status;
}

/* What left of the input is a hash, against which no guess can be tested without the entry's nonce. */
static void check_commitment(struct verification *v, const struct entry_claims *entry)
{
    const char *nonce = entry->nonce, *input = entry->input, *claimed = v->claims.commitment;
    char commitment[SHA256_HEX];
    struct sha256 sum;
    sha256_init(&sum);
    sha256_update(&sum, nonce ? nonce : "", nonce ? strlen(nonce) : 0);
    sha256_update(&sum, input ? input : "", input ? strlen(input) : 0);
    sha256_hex(&sum, commitment);
    verify_check(v, "input commitment", claimed && strcmp(claimed, commitment) == 0,
                 "over the nonce and the input of entry %.16s...", v->claims.hash);
}

/* Before the noise was drawn, the same was written down. */
static sotto_status check_entry(struct verification *v, const struct json *entry,
                                const struct entry_claims *says)
{
    static const char *const facts[] = {"mechanism",       "scale",   "dimension", "sensitivity",
                                        "sampler",         "purpose", "records",   "condition",
                                        "unit_of_privacy", "person",  "plan",      NULL},
                             *const claim[] = {"epsilon",  "delta",     "accountant", "pure_epsilon",
                                               "zcdp_rho", "adjacency", "bounds",     NULL};
    sotto_status status = SOTTO_OK;
    const struct certificate_claims *f = &v->claims;
    TRY(verify_members(v, "recorded facts", entry, false, facts));
    if (f->claimed)
        TRY(verify_members(v, "recorded account", entry, true, claim));
    verify_check(v, "recorded randomness",
                 says->randomness && (strcmp(says->randomness, "os") == 0) == f->claimed, "%.100s",
                 says->randomness ? says->randomness : "(none)");
    check_commitment(v, says);
done:
    return status;
}

/* The certificate counts as its entry does; one of early form for a later entry would pass for one whose file has no line. */
static void check_place(struct verification *v, const struct entry_claims *says)
{
    const struct certificate_claims *f = &v->claims;
    const bool counted = says->charge >= 0;
    const int64_t number = counted ? says->charge : says->index;
    verify_check(v, "recorded place", f->has_entry && f->by_line != counted && f->entry == number,
                 "entry %.16s... has the number %lld among the %s, the certificate says %lld among the %s",
                 f->hash, (long long)number, counted ? "charges" : "lines", (long long)f->entry,
                 f->by_line ? "lines" : "charges");
}

/* Of the certificate's file, without line ends behind it. */
static sotto_status hash_certificate(char out[SHA256_HEX], const char *path)
{
    sotto_status status = SOTTO_OK;
    unsigned char *data = NULL;
    size_t size;
    TRY(file_read(&data, &size, path, CERTIFICATE_LIMIT));
    while (size > 0 && data[size - 1] == '\n')
        size--;
    sha256_of(out, data, size);
done:
    base_free(data);
    return status;
}

/* Once the file was complete, a line said that it came out of this charge. */
static sotto_status check_released(struct verification *v, const char *path)
{
    sotto_status status = SOTTO_OK;
    const struct certificate_claims *f = &v->claims;
    char sha256[SHA256_HEX];
    struct released_lines lines;
    TRY(hash_certificate(sha256, v->path));
    TRY(released_lines_count(&lines, path,
                             &(struct released_file){(size_t)f->entry, f->hash, f->output, sha256}));
    verify_check(v, "released line", lines.output > 0,
                 "the ledger names %zu files that came out of charge %lld, and none with SHA-256 %.16s...",
                 lines.all, (long long)f->entry, f->output);
    verify_check(v, "released certificate", lines.output == 0 || lines.these == 1,
                 "the ledger names %zu certificates of that file, and this one %zu times; expected once",
                 lines.output, lines.these);
    verify_done(v, "the ledger says that this file and this certificate came out of that charge");
    v->bound = true;
done:
    return status;
}

/* l: what counts of the file. */
static sotto_status check_own_entry(struct verification *v, const char *path, const struct ledger *l)
{
    static const char *const of_runs[] = {"records", "condition", "unit_of_privacy", "person", "plan", NULL};
    sotto_status status = SOTTO_OK;
    struct ledger_lines lines = {0};
    const struct ledger_line *line;
    const struct json *entry;
    struct entry_claims says;
    size_t index = 0;
    TRY(ledger_lines_open(&lines, path));
    TRY(ledger_lines_find(&line, &lines, v->claims.hash));
    if (line)
        TRY(ledger_line_index(&index, line, path));
    entry = line && index < l->entries ? line->document : NULL;
    const char *wanted = v->claims.plan ? "planned" : v->claims.run ? "reserve" : "release";
    entry_claims_get(&says, entry);
    verify_check(v, "ledger entry", says.event && strcmp(says.event, wanted) == 0,
                 "entry %.16s... is %s, expected a %s", v->claims.hash, says.event ? says.event : "not there",
                 wanted);
    if (!entry)
        goto done;
    check_place(v, &says);
    if (v->claims.run) {
        TRY(verify_members(v, "recorded facts", entry, false, of_runs));
        TRY(check_reservations(v, path));
        TRY(check_labels(v, path));
    } else {
        TRY(check_entry(v, entry, &says));
    }
    verify_done(v, "ledger's chain is whole and holds this release");
    if (v->claims.plan)
        verify_done(v, "it is slot %zu of plan %.16s, which the ledger counts once", v->claims.slot,
                    v->claims.plan);
    if (v->found.failed)
        goto done;
    if (says.charge < 0)
        verify_leave(v, "released line",
                     "which file came out of that charge, which an entry of an early version does not tell");
    else
        TRY(check_released(v, path));
done:
    ledger_lines_close(&lines);
    return status;
}

/* A plan's curve takes too long for every reader of a ledger; here it is derived again, whatever its line records. */
static sotto_status check_plan(struct verification *v, const struct ledger *l)
{
    sotto_status status = SOTTO_OK;
    const struct ledger_item *plan = NULL;
    struct part_memory known = {.made = 0};
    struct sotto_account a;
    for (size_t i = 0; i < l->charges && v->claims.plan; i++)
        if (l->items[i].plan && strcmp(l->items[i].hash, v->claims.plan) == 0)
            plan = &l->items[i];
    if (!plan)
        goto done;
    TRY(sotto_account_events(&a, plan->plan->events.events, plan->plan->events.count, plan->delta,
                             SOTTO_REPLACE_ONE, NULL));
    const struct ledger_charge derived = {.lower = a.epsilon.lower, .delta = plan->delta};
    verify_check(v, "plan", plan->epsilon >= a.epsilon.lower * (1 - 1e-9),
                 "charged at epsilon %g, and its releases have at least %g together", plan->epsilon,
                 a.epsilon.lower);
    status = ledger_require_offers(&known, plan, &derived, "its plan");
    verify_check(v, "plan", status == SOTTO_OK, "%s", status == SOTTO_OK ? "" : sotto_error_text());
    status = status == SOTTO_ENOMEM ? status : SOTTO_OK;
    verify_done(v, "what its plan was charged was derived again");
done:
    return status;
}

sotto_status verify_ledger(struct verification *v, const char *path)
{
    sotto_status status = SOTTO_OK;
    struct ledger l = {.lock = {.fd = -1}};
    if (!path) {
        verify_leave(
            v, "ledger",
            "the ledger, as none was given: whether the release was charged, and in which ledger, is open");
        verify_leave(v, "released line",
                     "that this file came out of the charge, which the ledger alone can tell");
        goto done;
    }
    status = ledger_read(&l, path);
    verify_check(v, "ledger chain", status == SOTTO_OK, "%s", status == SOTTO_OK ? path : sotto_error_text());
    if (status != SOTTO_OK) {
        status = status == SOTTO_ENOMEM ? status : SOTTO_OK;
        goto done;
    }
    TRY(check_own_entry(v, path, &l));
    TRY(check_plan(v, &l));
    if (l.cut > 0)
        verify_leave(
            v, "cut line",
            "the last line of the ledger, which was cut off while it was written and does not count");
    verify_leave(v, "later entries", "whether later entries of the ledger were removed");
done:
    ledger_close(&l);
    return status;
}
