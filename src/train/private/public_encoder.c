#include "train/private/public_encoder.h"

#include "base/memory.h"
#include "sotto/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_row(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Two arrays of the same set: rows are public, and a row in both may be named. */
static sotto_status compare_rows(const char *path, const struct sotto_provenance *encoder,
                                 const struct sotto_provenance *own)
{
    sotto_status status = SOTTO_OK;
    int64_t *rows = NULL;
    NEW(rows, encoder->n);
    memcpy(rows, encoder->rows, encoder->n * sizeof *rows);
    qsort(rows, encoder->n, sizeof *rows, by_row);
    for (size_t i = 0; i < own->n; i++)
        REQUIRE(!bsearch(&own->rows[i], rows, encoder->n, sizeof *rows, by_row),
                "%s was trained on row %lld of '%s', which is to be private; expected an encoder of other "
                "records",
                path, (long long)own->rows[i], own->set);
done:
    base_free(rows);
    return status;
}

static int by_digest(const void *a, const void *b)
{
    return memcmp(a, b, SOTTO_DIGEST);
}

/* Two sets: equal records are found by their digests. */
static sotto_status compare_digests(const char *path, const struct sotto_provenance *encoder,
                                    const struct sotto_dataset *data, const int64_t *rows, size_t n,
                                    const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    unsigned char(*theirs)[SOTTO_DIGEST] = NULL, (*own)[SOTTO_DIGEST] = NULL;
    NEW(theirs, encoder->n);
    NEW(own, n);
    TRY(sotto_provenance_digests(theirs, encoder, ctx));
    TRY(sotto_dataset_digests(own, data, rows, n, ctx));
    qsort(theirs, encoder->n, sizeof *theirs, by_digest);
    for (size_t i = 0; i < n; i++)
        REQUIRE(
            !bsearch(own[i], theirs, encoder->n, sizeof *theirs, by_digest),
            "%s was trained on records of '%s' that are among the private ones; expected an encoder of other "
            "records",
            path, encoder->set);
done:
    base_free(theirs);
    base_free(own);
    return status;
}

static bool of_one_set(const struct sotto_provenance *a, const struct sotto_provenance *b)
{
    return a->rows && b->rows && strcmp(a->set, b->set) == 0 && strcmp(a->dataset_id, b->dataset_id) == 0;
}

/* No record that trained it may be among the private ones. */
static sotto_status check_public(struct encoder_standing *out, const char *path,
                                 const struct sotto_dataset *data, const int64_t *rows, size_t n,
                                 const char *given_by, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_provenance encoder = {0}, own = {0};
    TRY(sotto_provenance_load(&encoder, path));
    const bool known = encoder.rows && encoder.n > 0;
    REQUIRE(
        known || given_by,
        "%s does not say which records trained it, so it cannot be compared with the private ones; state who "
        "says that it is public (--encoder-by)",
        path);
    if (known) {
        TRY(sotto_provenance_of_rows(&own, data, rows, n));
        TRY(of_one_set(&encoder, &own) ? compare_rows(path, &encoder, &own)
                                       : compare_digests(path, &encoder, data, rows, n, ctx));
    }
    int length = snprintf(out->statement, sizeof out->statement, "public, by %s; %s",
                          given_by ? given_by : "the caller",
                          known ? "no record that trained it is among the private ones"
                                : "which records trained it is not known");
    REQUIRE(length < PUBLIC_ENCODER_TEXT, "encoder_by: %zu characters; expected at most %d", strlen(given_by),
            PUBLIC_ENCODER_TEXT - 80);
done:
    sotto_provenance_clear(&encoder);
    sotto_provenance_clear(&own);
    return status;
}

/* The certificate beside the file, which must hold, and its epsilon under the adjacency of the training. */
static sotto_status read_certificate(struct encoder_standing *out, const char *path,
                                     enum sotto_adjacency adjacency, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_certificate *c = NULL;
    struct sotto_verification v = {0};
    char *beside = NULL;
    const size_t capacity = strlen(path) + 32;
    NEW(beside, capacity);
    snprintf(beside, capacity, "%s.certificate.json", path);
    TRY(sotto_certificate_load(&c, beside));
    status = sotto_verify(&v, path, NULL, NULL, ctx);
    REQUIRE(
        status != SOTTO_EGATE && sotto_certificate_guarantee(c) == SOTTO_GUARANTEE_PROVED,
        "%s: its certificate proves nothing or does not verify; expected one that does, or a public encoder",
        path);
    TRY(status);
    const struct sotto_account *a = sotto_certificate_account(c);
    const char *wanted = sotto_adjacency_name(adjacency);
    const bool own = strcmp(a->adjacency, wanted) == 0, other = strcmp(a->other_adjacency, wanted) == 0;
    REQUIRE(own || other,
            "%s: its certificate is for %s adjacency, so it cannot be added to one for %s; train with "
            "the same adjacency",
            path, a->adjacency, wanted);
    out->certified = true;
    out->epsilon = own ? a->epsilon.upper : a->other_epsilon.upper;
    out->delta = a->delta;
    snprintf(out->condition, sizeof out->condition,
             "the encoder: its own certificate adds epsilon %.6g at delta %g for the same records (see "
             "fine_tuning)",
             out->epsilon, out->delta);
done:
    sotto_verification_clear(&v);
    sotto_certificate_free(c);
    base_free(beside);
    return status;
}

sotto_status encoder_standing_find(struct encoder_standing *out, const struct sotto_encoder *e,
                                   const char *path, const struct sotto_dataset *data, const int64_t *rows,
                                   size_t n, enum sotto_adjacency adjacency, const char *given_by,
                                   const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    *out = (struct encoder_standing){0};
    REQUIRE(strncmp(sotto_encoder_statement(e), "none", 4) != 0,
            "%s carries the statement \"%s\"; a private training needs a public encoder", path,
            sotto_encoder_statement(e));
    if (encoder_fact(e, "private_recipe") || encoder_fact(e, "input_release"))
        TRY(read_certificate(out, path, adjacency, ctx));
    else
        TRY(check_public(out, path, data, rows, n, given_by, ctx));
done:
    return status;
}

void encoder_standing_add(struct encoder_standing *s, const struct sotto_account *own)
{
    if (s->certified)
        snprintf(s->statement, sizeof s->statement,
                 "certified with epsilon %.6g at delta %g; with this training at most epsilon %.6g at delta "
                 "%g under %s, "
                 "by addition",
                 s->epsilon, s->delta, s->epsilon + own->epsilon.upper, s->delta + own->delta,
                 own->adjacency);
}
