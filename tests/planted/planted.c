/* Defects that sotto once had, planted again one at a time: SOTTO_PLANTED names one. The linker sends calls
 * of the functions below here (--wrap in cmake/tests.cmake); without SOTTO_PLANTED all of them do what they
 * should. */
#include "base/file.h"
#include "data/set/split_encoding.h"
#include "dp/certificate/certificate.h"
#include "sotto/dp.h"
#include "sotto/head.h"
#include "train/private/dp_sgd.h"

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

/* DP-SGD's sums of floats count as proved. */
sotto_status __real_certificate_condition(char out[CONDITION_TEXT], const char *given,
                                          const struct sotto_provenance *p);
sotto_status __wrap_certificate_condition(char out[CONDITION_TEXT], const char *given,
                                          const struct sotto_provenance *p)
{
    bool sums = given && strncmp(given, DP_SGD_FLOAT_SUMS, strlen(DP_SGD_FLOAT_SUMS)) == 0;
    return __real_certificate_condition(out, sums && planted("sums") ? NULL : given, p);
}

/* Charged before a check that the output can be written. */
sotto_status __real_file_hold(struct held_file *h, const char *path, size_t bytes);
sotto_status __wrap_file_hold(struct held_file *h, const char *path, size_t bytes)
{
    return planted("output") ? SOTTO_OK : __real_file_hold(h, path, bytes);
}
