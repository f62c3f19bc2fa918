#include "train/private/public_encoder.h"

#include "base/memory.h"
#include "sotto/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char was_trained_on[] = "was trained on";

static int by_row(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* What is compared with the private records. */
struct public_file {
    const char *path, *holds, *wanted; /* "PATH was trained on ...; expected ..." */
};

/* Two arrays of the same set: rows are public, and a row in both may be named. */
static sotto_status compare_rows(const struct public_file *f, const struct sotto_provenance *encoder,
                                 const struct sotto_provenance *own)
{
    sotto_status status = SOTTO_OK;
    int64_t *rows = NULL;
    NEW(rows, encoder->n);
    memcpy(rows, encoder->rows, encoder->n * sizeof *rows);
    qsort(rows, encoder->n, sizeof *rows, by_row);
    for (size_t i = 0; i < own->n; i++)
        REQUIRE(!bsearch(&own->rows[i], rows, encoder->n, sizeof *rows, by_row),
                "%s %s row %lld of '%s', which is to be private; expected %s of other records", f->path,
                f->holds, (long long)own->rows[i], own->set, f->wanted);
done:
    base_free(rows);
    return status;
}

static int by_digest(const void *a, const void *b)
{
    return memcmp(a, b, SOTTO_DIGEST);
}

/* Two sets: equal records are found by their digests. */
static sotto_status compare_digests(const struct public_file *f, const struct sotto_provenance *encoder,
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
        REQUIRE(!bsearch(own[i], theirs, encoder->n, sizeof *theirs, by_digest),
                "%s %s records of '%s' that are among the private ones; expected %s of other records",
                f->path, f->holds, encoder->set, f->wanted);
done:
    base_free(theirs);
    base_free(own);
    return status;
}

/* Of weights from elsewhere: who said so when they were imported. */
static const char *stated_by(const struct sotto_encoder *e)
{
    static const char public_by[] = ENCODER_STATED "public, by ";
    const char *text = encoder_fact(e, ENCODER_PROVENANCE_KEY);
    return text && strncmp(text, public_by, strlen(public_by)) == 0 ? text + strlen(public_by) : NULL;
}

static bool of_one_set(const struct sotto_provenance *a, const struct sotto_provenance *b)
{
    return a->rows && b->rows && strcmp(a->set, b->set) == 0 && strcmp(a->dataset_id, b->dataset_id) == 0;
}

/* None of its records may be among the private ones. */
static sotto_status check_public(char statement[PUBLIC_ENCODER_TEXT], const struct public_file *f,
                                 const struct sotto_dataset *data, const int64_t *rows, size_t n,
                                 const char *given_by, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_provenance encoder = {0}, own = {0};
    const bool trained = strcmp(f->holds, was_trained_on) == 0;
    TRY(sotto_provenance_load(&encoder, f->path));
    const bool known = encoder.rows && encoder.n > 0;
    REQUIRE(known || given_by,
            "%s does not say which records %s, so it cannot be compared with the private ones; state who "
            "says that it is public (--encoder-by)",
            f->path, trained ? "trained it" : "its rows are of");
    if (known) {
        TRY(sotto_provenance_of_rows(&own, data, rows, n));
        TRY(of_one_set(&encoder, &own) ? compare_rows(f, &encoder, &own)
                                       : compare_digests(f, &encoder, data, rows, n, ctx));
    }
    const char *text[2][2] = {
        {"which records its rows are of is not known", "no record of its rows is among the private ones"},
        {"which records trained it is not known", "no record that trained it is among the private ones"}};
    int length = snprintf(statement, PUBLIC_ENCODER_TEXT, "public, by %s; %s",
                          given_by ? given_by : "the caller", text[trained][known]);
    REQUIRE(length < PUBLIC_ENCODER_TEXT, "encoder_by: %zu characters; expected at most %d", strlen(given_by),
            PUBLIC_ENCODER_TEXT - 80);
done:
    sotto_provenance_clear(&encoder);
    sotto_provenance_clear(&own);
    return status;
}

/* The certificate beside the file, which must hold, and its epsilon under the adjacency of the training. */
static sotto_status read_certificate(struct encoder_standing *out, const char *path,
                                     const struct sotto_dataset *data, enum sotto_adjacency adjacency,
                                     const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_certificate *c = NULL;
    struct sotto_verification v = {0};
    struct sotto_provenance whose = {0};
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
    TRY(sotto_provenance_of_rows(&whose, data, NULL, data->n));
    REQUIRE(whose.rows_per_person == 0 && strcmp(sotto_certificate_unit(c), "one record") == 0,
            "%s: its certificate is for %s as the unit of privacy, and a sum of two certificates is made for "
            "records "
            "only; expected a public encoder",
            path, sotto_certificate_unit(c));
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
    sotto_provenance_clear(&whose);
    sotto_verification_clear(&v);
    sotto_certificate_free(c);
    base_free(beside);
    return status;
}

sotto_status encoder_standing_find(struct encoder_standing *out, const struct sotto_encoder *e,
                                   const char *path, const char *moments, const struct sotto_dataset *data,
                                   const int64_t *rows, size_t n, enum sotto_adjacency adjacency,
                                   const char *given_by, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    *out = (struct encoder_standing){0};
    REQUIRE(strncmp(sotto_encoder_statement(e), "none", 4) != 0,
            "%s carries the statement \"%s\"; a private training needs a public encoder", path,
            sotto_encoder_statement(e));
    if (encoder_fact(e, "private_recipe") || encoder_fact(e, "input_release"))
        TRY(read_certificate(out, path, data, adjacency, ctx));
    else
        TRY(check_public(out->statement, &(struct public_file){path, was_trained_on, "an encoder"}, data,
                         rows, n, given_by ? given_by : stated_by(e), ctx));
    if (moments)
        TRY(check_public(out->moments, &(struct public_file){moments, "contains", "embeddings"}, data, rows,
                         n, given_by, ctx));
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
