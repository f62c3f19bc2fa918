/* Defects that sotto once had, planted again one at a time: SOTTO_PLANTED names one. The linker sends calls
 * of the functions below here (--wrap in cmake/tests.cmake); without SOTTO_PLANTED all of them do what they
 * should. */
#include "base/file.h"
#include "data/set/split_encoding.h"
#include "dp/account/adaptive_part.h"
#include "dp/certificate/certificate_json.h"
#include "dp/ledger/charge.h"
#include "dp/ledger/ledger_columns.h"
#include "dp/ledger/ledger_output.h"
#include "dp/ledger/spend.h"
#include "dp/release/dpsgd_session.h"
#include "dp/release/verify_values.h"
#include "nn/loop/example_sums.h"
#include "sotto/head.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool planted(const char *defect)
{
    const char *name = getenv("SOTTO_PLANTED");
    return name && strcmp(name, defect) == 0;
}

/* Doubles are rounded to floats before the noise, which no account covers. */
sotto_status __real_sotto_dp_release_double(struct sotto_certificate **certificate, double *vector, size_t n,
                                            const struct sotto_release *r, const struct sotto_context *ctx);
sotto_status __wrap_sotto_dp_release_double(struct sotto_certificate **certificate, double *vector, size_t n,
                                            const struct sotto_release *r, const struct sotto_context *ctx)
{
    for (size_t i = 0; planted("floats") && i < n; i++)
        vector[i] = (float)vector[i];
    return __real_sotto_dp_release_double(certificate, vector, n, r, ctx);
}

static size_t count_classes(const int64_t *y, size_t n)
{
    int64_t most = 1;
    for (size_t i = 0; i < n; i++)
        most = y[i] > most ? y[i] : most;
    return (size_t)most + 1;
}

static void hash_bytes(uint64_t *hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        *hash = (*hash ^ bytes[i]) * 0x100000001b3u;
}

/* The number of classes is read off the labels; the ledger is that of the arrays' bytes, in their order. */
sotto_status __real_sotto_head_train_private(struct sotto_head **out, struct sotto_certificate **certificate,
                                             const float *x, const int64_t *y, size_t n, size_t d,
                                             size_t classes, const struct sotto_head_recipe *recipe,
                                             const struct sotto_head_privacy *privacy,
                                             const struct sotto_context *ctx);
sotto_status __wrap_sotto_head_train_private(struct sotto_head **out, struct sotto_certificate **certificate,
                                             const float *x, const int64_t *y, size_t n, size_t d,
                                             size_t classes, const struct sotto_head_recipe *recipe,
                                             const struct sotto_head_privacy *privacy,
                                             const struct sotto_context *ctx)
{
    struct sotto_head_privacy p = *privacy;
    char identity[32];
    uint64_t hash = 0xcbf29ce484222325u;
    hash_bytes(&hash, x, n * d * sizeof *x);
    hash_bytes(&hash, y, n * sizeof *y);
    snprintf(identity, sizeof identity, "bytes-%016llx", (unsigned long long)hash);
    if (planted("identity")) {
        p.spend.dataset_id = identity;
        p.spend.source = NULL; /* overlap would be found by the hashes of source records */
    }
    if (planted("classes"))
        classes = count_classes(y, n);
    return __real_sotto_head_train_private(out, certificate, x, y, n, d, classes, recipe, &p, ctx);
}

/* An encoding that was fitted on the private rows carries no stamp. */
sotto_status __real_split_provenance(struct sotto_provenance *out, const struct sotto_dataset *s,
                                     const struct sotto_table_encoding *e, const int64_t *rows, size_t n);
sotto_status __wrap_split_provenance(struct sotto_provenance *out, const struct sotto_dataset *s,
                                     const struct sotto_table_encoding *e, const int64_t *rows, size_t n)
{
    sotto_status status = __real_split_provenance(out, s, e, rows, n);
    if (status == SOTTO_OK && planted("encoding"))
        out->encoding = SOTTO_ENCODING_DECLARED;
    return status;
}

/* A row may be named again and again. */
sotto_status __real_sotto_rows_once(const int64_t *rows, size_t n, const char *where);
sotto_status __wrap_sotto_rows_once(const int64_t *rows, size_t n, const char *where)
{
    return planted("rows") ? SOTTO_OK : __real_sotto_rows_once(rows, n, where);
}

sotto_status __real_sotto_provenance_once(const struct sotto_provenance *p);
sotto_status __wrap_sotto_provenance_once(const struct sotto_provenance *p)
{
    return planted("rows") ? SOTTO_OK : __real_sotto_provenance_once(p);
}

/* Gradients are clipped to a hundred times the norm that is claimed. */
double __real_example_sums_bound(const struct example_sums *sums, double steps);
double __wrap_example_sums_bound(const struct example_sums *sums, double steps)
{
    return __real_example_sums_bound(sums, planted("clip") ? 100 * steps : steps);
}

/* Charged before a check that the output can be written. */
sotto_status __real_file_hold(struct held_file *h, const char *path, size_t bytes);
sotto_status __wrap_file_hold(struct held_file *h, const char *path, size_t bytes)
{
    return planted("output") ? SOTTO_OK : __real_file_hold(h, path, bytes);
}

/* What shaped the columns is not looked at. */
sotto_status __real_spend_meet_shapings(char condition[CONDITION_TEXT], const char *dataset_id,
                                        const struct sotto_spend *s);
sotto_status __wrap_spend_meet_shapings(char condition[CONDITION_TEXT], const char *dataset_id,
                                        const struct sotto_spend *s)
{
    return planted("shaped") ? SOTTO_OK : __real_spend_meet_shapings(condition, dataset_id, s);
}

/* A certificate counts lines of the ledger, of which some tell of new records. */
static size_t line_of(const char *ledger, const char *hash)
{
    unsigned char *data = NULL;
    size_t size, lines = 0;
    if (file_read(&data, &size, ledger, 1 << 20) == SOTTO_OK) {
        const char *end = strstr((char *)data, hash);
        for (const char *at = (char *)data; end && (at = strchr(at, '\n')) && at < end; at++)
            lines++;
    }
    base_free(data);
    return lines;
}

sotto_status __real_certificate_document(char **text, const struct sotto_certificate *c,
                                         const char *output_sha256);
sotto_status __wrap_certificate_document(char **text, const struct sotto_certificate *c,
                                         const char *output_sha256)
{
    struct sotto_certificate counted = *c;
    if (planted("history") && c->ledger)
        counted.entry = line_of(c->ledger, c->hash);
    return __real_certificate_document(text, &counted, output_sha256);
}

/* A charge looks for its records in the ledgers of all other data sets. */
static sotto_status look_elsewhere(const char *dataset_id, const struct sotto_source_records *source)
{
    sotto_status status = SOTTO_OK;
    char *own = NULL, id[256];
    struct dirent **entries = NULL;
    int count = 0;
    TRY(sotto_ledger_find(&own, dataset_id));
    *strrchr(own, '/') = '\0';
    count = scandir(own, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        size_t shared = 0;
        const char *end = strstr(entries[i]->d_name, ".jsonl");
        snprintf(id, sizeof id, "%.*s", end ? (int)(end - entries[i]->d_name) : 0, entries[i]->d_name);
        if (end && !end[6] && strcmp(id, dataset_id) != 0)
            TRY(sotto_ledger_overlap(&shared, id, source->digests, source->n));
        if (shared)
            FAIL(SOTTO_EBUDGET, "the data set '%s' has %zu of these records", id, shared);
    }
done:
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    sotto_text_free(own);
    return status;
}

sotto_status __real_charge_open(struct charge *c, const char *dataset_id, const char *ledger,
                                const struct sotto_source_records *source, const struct sotto_context *ctx);
sotto_status __wrap_charge_open(struct charge *c, const char *dataset_id, const char *ledger,
                                const struct sotto_source_records *source, const struct sotto_context *ctx)
{
    if (planted("probe") && source && source->n) {
        const sotto_status status = look_elsewhere(dataset_id, source);
        if (status != SOTTO_OK)
            return status;
    }
    return __real_charge_open(c, dataset_id, ledger, source, ctx);
}

/* Any file goes with a certificate of its hash. */
sotto_status __real_released_lines_count(struct released_lines *out, const char *ledger,
                                         const struct released_file *file);
sotto_status __wrap_released_lines_count(struct released_lines *out, const char *ledger,
                                         const struct released_file *file)
{
    const sotto_status status = __real_released_lines_count(out, ledger, file);
    if (status == SOTTO_OK && planted("released"))
        out->these = out->output = out->all = 1;
    return status;
}

/* A forked process draws from the streams of the reservation. */
bool __real_noise_is_own(const struct noise *s);
bool __wrap_noise_is_own(const struct noise *s)
{
    return planted("fork") || __real_noise_is_own(s);
}

/* Values are not looked at. */
void __real_verify_values(struct verification *v, const double *x, size_t n, bool floats);
void __wrap_verify_values(struct verification *v, const double *x, size_t n, bool floats)
{
    if (!planted("values"))
        __real_verify_values(v, x, n, floats);
}

/* A stop by time costs what was reserved; a stop by hand, what was taken. */
void __real_dpsgd_session_settle(struct sotto_dpsgd_session *s, const struct sotto_context *ctx);
void __wrap_dpsgd_session_settle(struct sotto_dpsgd_session *s, const struct sotto_context *ctx)
{
    static volatile sig_atomic_t by_time = SOTTO_STOP_BY_TIME;
    struct sotto_context own = ctx ? *ctx : (struct sotto_context){0};
    if (planted("by-hand") && own.stop && *own.stop)
        own.stop = &by_time;
    if (!planted("unsettled"))
        __real_dpsgd_session_settle(s, ctx ? &own : NULL);
}

/* A stop by time costs one step. */
sotto_status __real_ledger_settlement_encode(char **line, const struct ledger_settlement *s,
                                             const struct sotto_account *account,
                                             const struct admission *admission);
sotto_status __wrap_ledger_settlement_encode(char **line, const struct ledger_settlement *s,
                                             const struct sotto_account *account,
                                             const struct admission *admission)
{
    struct ledger_settlement one = *s;
    if (planted("settled"))
        one.steps = 1;
    return __real_ledger_settlement_encode(line, &one, account, admission);
}

/* A budget is compared with what the releases of the path compose to. */
static sotto_status compose_path(struct sotto_account *out, const struct ledger *l,
                                 const struct ledger_item *item, double delta)
{
    sotto_status status = SOTTO_OK;
    struct ledger_sums sums = {.proved = {.releases = 0}};
    TRY(ledger_sums_of(&sums, l));
    TRY(ledger_events_join(&sums.proved_events, &sums.conditional_events));
    TRY(ledger_events_add(&sums.proved_events, &item->charged));
    TRY(ledger_events_account(out, &sums.proved_events, delta, NULL));
done:
    ledger_sums_free(&sums);
    return status;
}

/* ... or with the curve of the box that they add up to. */
static sotto_status add_boxes(struct adaptive *sum, const struct ledger *l, const struct ledger_item *item)
{
    sotto_status status = SOTTO_OK;
    *sum = (struct adaptive){0, 0, 0};
    for (size_t i = 0; i <= l->charges; i++) {
        const struct sotto_event *event = &(i < l->charges ? &l->items[i] : item)->charged.event;
        struct adaptive offer[ADAPTIVE_OFFERS];
        struct part part;
        size_t count;
        TRY(part_make(&part, event, 0, SOTTO_REPLACE_ONE));
        TRY(adaptive_offers(offer, &count, &part, &(struct adaptive){0, 0, 0}, NULL));
        *sum = adaptive_add(*sum, count ? offer[0] : (struct adaptive){INFINITY, INFINITY, 1});
    }
done:
    return status;
}

sotto_status __real_ledger_admit(struct admission *out, bool *fits, const struct ledger *l,
                                 struct sotto_dp budget, const struct ledger_item *item,
                                 const struct sotto_context *ctx);
sotto_status __wrap_ledger_admit(struct admission *out, bool *fits, const struct ledger *l,
                                 struct sotto_dp budget, const struct ledger_item *item,
                                 const struct sotto_context *ctx)
{
    struct sotto_account total;
    struct adaptive box;
    sotto_status status = __real_ledger_admit(out, fits, l, budget, item, ctx);
    if (status == SOTTO_OK && planted("path") && !isnan(budget.epsilon)) {
        status = compose_path(&total, l, item, budget.delta);
        *fits = status == SOTTO_OK && total.epsilon.upper <= budget.epsilon;
    }
    if (status == SOTTO_OK && planted("box") && !isnan(budget.epsilon)) {
        status = add_boxes(&box, l, item);
        *fits = status == SOTTO_OK && adaptive_delta(&box, budget.epsilon).hi <= budget.delta;
    }
    return status;
}
