#include "train/private/public_encoder.h"

#include "base/memory.h"
#include "sotto/lab/provenance.h"
#include "sotto/verify.h"

#include <stdio.h>
#include <string.h>

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

/* Who says that it is public, and what is known of its records: spend_meet_shapings() decides over these. */
static sotto_status check_public(char statement[PUBLIC_ENCODER_TEXT], const char *path, bool trained,
                                 const struct sotto_dataset *data, const int64_t *rows, size_t n,
                                 const char *given_by)
{
    sotto_status status = SOTTO_OK;
    struct sotto_provenance encoder = {0}, own = {0};
    TRY(sotto_provenance_load(&encoder, path));
    const bool known = encoder.rows && encoder.n > 0;
    REQUIRE(known || given_by,
            "%s does not say which records %s, so it cannot be compared with the private ones; state who "
            "says that it is public ({encoder_by})",
            path, trained ? "trained it" : "its rows are of");
    TRY(sotto_provenance_of_rows(&own, data, rows, n));
    const int what = !known ? 0 : of_one_set(&encoder, &own) ? 1 : 2;
    static const char *const text[2][3] = {
        {"which records its rows are of is not known", "no record of its rows is among the private ones",
         "its rows are of another data set"},
        {"which records trained it is not known", "no record that trained it is among the private ones",
         "the records that trained it are of another data set"}};
    int length = snprintf(statement, PUBLIC_ENCODER_TEXT, "public, by %s; %s",
                          given_by ? given_by : "the caller", text[trained][what]);
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
    const bool own = a->adjacency == adjacency, other = a->has_other && a->other_adjacency == adjacency;
    REQUIRE(own || other,
            "%s: its certificate is for %s adjacency, so it cannot be added to one for %s; train with "
            "the same adjacency",
            path, sotto_adjacency_name(a->adjacency), sotto_adjacency_name(adjacency));
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
        TRY(check_public(out->statement, path, true, data, rows, n, given_by ? given_by : stated_by(e)));
    if (moments)
        TRY(check_public(out->moments, moments, false, data, rows, n, given_by));
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
                 sotto_adjacency_name(own->adjacency));
}
