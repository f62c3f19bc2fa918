/* sensitivity.json: evidence about a recipe on a data set, and nothing more; the file says so itself. */
#include "head/sensitivity/sensitivity_file.h"

#include "base/file.h"
#include "head/model/head_model.h"
#include "head/sensitivity/paper_norms.h"
#include "io/fields/fields.h"
#include "sotto/lab/local.h"
#include "sotto/private/print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char schema[] = "sotto.sensitivity/1", local_schema[] = "sotto.local-sensitivity/1";
static const char statement[] = "empirical sensitivity over sampled replace-one pairs of one data set: "
                                "evidence in the style of random differential "
                                "privacy for the stated share gamma of such pairs, not differential privacy";

static const char proved_statement[] = "bound on the change of any head that this trainer and recipe make "
                                       "from so many records when one of them is "
                                       "replaced: proved (docs/derivations/head.md)";

#define T struct sotto_sensitivity_sample
static const struct field proved_members[] = {FIELD_CONSTANT_OF("schema", schema),
                                              FIELD_CONSTANT_OF("source", "proved"),
                                              FIELD_CONSTANT_OF("statement", proved_statement),
                                              FIELD_CONSTANT_OF("adjacency", "replace-one"),
                                              FIELD_REAL_OF("l1", T, l1),
                                              FIELD_REAL_OF("l2", T, l2),
                                              FIELD_REAL_OF("linf", T, linf),
                                              FIELD_REAL_OF("rounding", T, rounding),
                                              FIELD_COUNT_OF("records", T, records),
                                              FIELD_OF("recipe", FIELD_CHARS, 0, T, recipe),
                                              FIELD_OF("recipe_hash", FIELD_CHARS, 0, T, recipe_hash),
                                              FIELD_OF("data_fingerprint", FIELD_CHARS, 0, T, data_sha256),
                                              FIELDS_END};
#define REAL(k, m) FIELD_OF(k, FIELD_REAL, FIELD_REQUIRED, T, m)
static const struct field gamma_members[] = {REAL("dkw", gamma_dkw), REAL("exchangeable", gamma_exchangeable),
                                             REAL("tolerance", gamma_tolerance),
                                             REAL("confidence", confidence), FIELDS_END};
static const struct field head_members[] = {
    FIELD_CONSTANT_OF("schema", schema), FIELD_CONSTANT_OF("source", "sampled"),
    FIELD_CONSTANT_OF("statement", statement), FIELD_CONSTANT_OF("adjacency", "replace-one"), FIELDS_END};
/* What is read as well. */
static const struct field sampled_members[] = {REAL("l1", l1),
                                               REAL("l2", l2),
                                               REAL("linf", linf),
                                               REAL("mean_l1", mean_l1),
                                               REAL("mean_l2", mean_l2),
                                               FIELD_OF("pairs", FIELD_COUNT, FIELD_REQUIRED, T, pairs),
                                               FIELD_GROUP_OF("gamma", gamma_members),
                                               FIELDS_END};
static const struct field hash_members[] = {
    FIELD_OF("recipe_hash", FIELD_CHARS, FIELD_REQUIRED, T, recipe_hash),
    FIELD_OF("data_fingerprint", FIELD_CHARS, FIELD_REQUIRED, T, data_sha256), FIELDS_END};
#undef REAL
#undef T

/* Hypotheses about published figures, by name: {"l1", "l2", "ratio"}. */
static struct json *paper_norms(const struct sotto_sensitivity_sample *s)
{
    struct json *all = json_make_object();
    for (int i = 0; i < SOTTO_PAPER_NORMS; i++) {
        struct json *norm = json_make_object();
        json_put_real(&norm, "l1", s->paper[i].one);
        json_put_real(&norm, "l2", s->paper[i].two);
        json_put_real(&norm, "ratio", s->paper[i].two > 0 ? s->paper[i].one / s->paper[i].two : NAN);
        json_put_text(&norm, "meaning", sotto_paper_norm_title((enum sotto_paper_norm)i));
        json_put(&all, paper_norm_name((enum sotto_paper_norm)i), norm);
    }
    return all;
}

static struct json *sensitivity_file_document(const struct sotto_sensitivity_sample *s)
{
    if (s->proved)
        return fields_object(proved_members, s);
    struct json *doc = fields_object(head_members, s);
    fields_put(&doc, sampled_members, s);
    json_put(&doc, "paper_norms", paper_norms(s));
    if (s->on_private_data)
        json_put_text(&doc, "sampled_on",
                      s->on_private_data > 0 ? "the head's own private data" : "other data");
    json_put_text(&doc, "recipe", s->recipe);
    fields_put(&doc, hash_members, s);
    return doc;
}

sotto_status sotto_sensitivity_json(char **json, const struct sotto_sensitivity_sample *s)
{
    REQUIRE_GIVEN(json, s);
    struct json *doc = sensitivity_file_document(s);
    sotto_status status = json_dump(json, doc, JSON_LINE);
    json_free(doc);
    return status;
}

sotto_status sotto_sensitivity_save(const char *path, const struct sotto_sensitivity_sample *s)
{
    REQUIRE_GIVEN(path, s);
    struct json *doc = sensitivity_file_document(s);
    sotto_status status = json_write_file(path, doc, JSON_PRETTY);
    json_free(doc);
    return status;
}

static sotto_status sensitivity_file_check(const struct sotto_sensitivity_sample *s, const char *path)
{
    sotto_status status = SOTTO_OK;
    const struct {
        const char *name;
        double value, largest;
    } members[] = {{"l1", s->l1, INFINITY},
                   {"l2", s->l2, INFINITY},
                   {"linf", s->linf, INFINITY},
                   {"gamma.dkw", s->gamma_dkw, 1},
                   {"gamma.exchangeable", s->gamma_exchangeable, 1},
                   {"gamma.tolerance", s->gamma_tolerance, 1},
                   {"gamma.confidence", s->confidence, 1}};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (!isfinite(members[i].value) || members[i].value < 0 || members[i].value > members[i].largest)
            FAIL(SOTTO_EFORMAT, "%s: '%s' is %g; expected a finite number in [0, %g]", path, members[i].name,
                 members[i].value, members[i].largest);
    if (s->pairs == 0)
        FAIL(SOTTO_EFORMAT, "%s: 'pairs' is 0; expected at least 1", path);
    /* Any vector has linf <= l2 <= l1; maxima over the same pairs keep the order (up to the rounding of the
     * file). */
    if (s->linf > s->l2 * (1 + 1e-6) || s->l2 > s->l1 * (1 + 1e-6))
        FAIL(SOTTO_EFORMAT, "%s: l1 %g, l2 %g, linf %g are out of order; expected linf <= l2 <= l1", path,
             s->l1, s->l2, s->linf);
done:
    return status;
}

/* A proof is derived again from what it rests on; a figure that differs was not written by us. */
static sotto_status read_proved(struct sotto_sensitivity_sample *s, const struct json *doc, const char *path)
{
    sotto_status status = SOTTO_OK;
    struct sotto_head_recipe r;
    char recipe[sizeof s->recipe], hash[sizeof s->recipe_hash];
    size_t records, inputs, classes;
    double l1, l2;
    TRY(json_get_real(&l1, doc, path, "l1"));
    TRY(json_get_real(&l2, doc, path, "l2"));
    TRY(json_get_size(&records, doc, path, "records"));
    TRY(json_get_text_into(recipe, sizeof recipe, doc, path, "recipe"));
    TRY(json_get_text_into(hash, sizeof hash, doc, path, "recipe_hash"));
    TRY(head_recipe_parse(&r, &inputs, &classes, recipe, path));
    if (!head_recipe_convex(&r) || records < 1 || inputs < 1 || classes < 2 || inputs > INT32_MAX ||
        classes > INT32_MAX)
        FAIL(SOTTO_EFORMAT, "%s: nothing is proved for its 'recipe' and 'records'", path);
    if (sensitivity_prove(s, &r, records, inputs, classes) != SOTTO_OK) {
        status_prefix(path);
        status = SOTTO_EFORMAT;
        goto done;
    }
    if (strcmp(s->recipe, recipe) != 0 || strcmp(s->recipe_hash, hash) != 0)
        FAIL(SOTTO_EFORMAT, "%s: 'recipe_hash' does not match 'recipe'", path);
    if (!(fabs(l1 - s->l1) <= 1e-12 * s->l1) || !(fabs(l2 - s->l2) <= 1e-12 * s->l2))
        FAIL(SOTTO_EFORMAT,
             "%s: states a proof of l1 %.9g and l2 %.9g, but its recipe and %zu records give %.9g and %.9g",
             path, l1, l2, records, s->l1, s->l2);
    TRY(json_get_text_into(s->data_sha256, sizeof s->data_sha256, doc, path, "data_fingerprint"));
done:
    return status;
}

static sotto_status read_paper_norms(struct sotto_sensitivity_sample *s, const struct json *doc,
                                     const char *path)
{
    sotto_status status = SOTTO_OK;
    char name[64];
    for (int i = 0; json_find(doc, "paper_norms") && i < SOTTO_PAPER_NORMS; i++) {
        double *const members[] = {&s->paper[i].one, &s->paper[i].two};
        for (int m = 0; m < 2; m++) {
            snprintf(name, sizeof name, "paper_norms.%s.l%d", paper_norm_name((enum sotto_paper_norm)i),
                     m + 1);
            TRY(json_get_real(members[m], doc, path, name));
            if (!isfinite(*members[m]) || *members[m] < 0)
                FAIL(SOTTO_EFORMAT, "%s: '%s' is %g; expected a finite number of at least 0", path, name,
                     *members[m]);
        }
    }
done:
    return status;
}

static sotto_status read_sampled(struct sotto_sensitivity_sample *s, const struct json *doc, const char *path)
{
    sotto_status status = SOTTO_OK;
    struct fields_memory none = {0}; /* these members have no texts of their own */
    TRY(fields_get(s, sampled_members, doc, path, &none));
    TRY(fields_get(s, hash_members, doc, path, &none));
    TRY(read_paper_norms(s, doc, path));
    const struct json *where = json_find(doc, "sampled_on");
    const char *on = where ? json_text(where) : NULL;
    s->on_private_data = !on ? 0 : strcmp(on, "the head's own private data") == 0 ? 1 : -1;
    if (json_find(doc, "recipe"))
        TRY(json_get_text_into(s->recipe, sizeof s->recipe, doc, path, "recipe"));
    TRY(sensitivity_file_check(s, path));
done:
    return status;
}

sotto_status sensitivity_from_json(struct sotto_sensitivity_sample *out, const struct json *doc,
                                   const char *path)
{
    sotto_status status = SOTTO_OK;
    struct sotto_sensitivity_sample s = {0};
    const char *found, *source = "sampled";
    TRY(json_get_text(&found, doc, path, "schema"));
    if (strcmp(found, local_schema) == 0)
        FAIL(SOTTO_EFORMAT,
             "%s: holds a local sensitivity, and noise scaled to that is not differentially private; "
             "expected one that "
             "is sampled or proved",
             path);
    if (strcmp(found, schema) != 0)
        FAIL(SOTTO_EFORMAT, "%s: schema is '%.64s'; expected %s", path, found, schema);
    if (json_find(doc, "source"))
        TRY(json_get_text(&source, doc, path, "source"));
    if (strcmp(source, "sampled") != 0 && strcmp(source, "proved") != 0)
        FAIL(SOTTO_EFORMAT, "%s: source is '%.64s'; expected sampled or proved", path, source);
    TRY(strcmp(source, "proved") == 0 ? read_proved(&s, doc, path) : read_sampled(&s, doc, path));
    *out = s;
done:
    return status;
}

sotto_status sotto_sensitivity_load(struct sotto_sensitivity_sample *out, const char *path)
{
    REQUIRE_GIVEN(out, path);
    struct json *doc = NULL;
    sotto_status status = json_read_file(&doc, path);
    if (status == SOTTO_OK)
        status = sensitivity_from_json(out, doc, path);
    json_free(doc);
    return status;
}

/* ---- local: a document of its own, so that nothing takes it for the above ---- */

#define T struct sotto_local_sensitivity
#define NORMS(of)                                                                                            \
    {                                                                                                        \
        FIELD_REAL_OF("l1", T, of##_l1), FIELD_REAL_OF("l2", T, of##_l2),                                    \
            FIELD_REAL_OF("linf", T, of##_linf), FIELDS_END                                                  \
    }
static const struct field left_out_members[] = NORMS(left_out), replaced_members[] = NORMS(replaced);
static const struct field local_head_members[] = {
    FIELD_CONSTANT_OF("schema", local_schema),
    FIELD_CONSTANT_OF("kind", "local"),
    FIELD_CONSTANT_OF("statement",
                      "not a privacy parameter: noise scaled to it is not differentially private"),
    FIELD_COUNT_OF("records", T, records),
    FIELD_COUNT_OF("tried", T, tried),
    FIELDS_END};
static const struct field local_members[] = {
    FIELD_GROUP_OF("left_out", left_out_members), FIELD_GROUP_OF("replaced", replaced_members),
    FIELD_OF("recipe_hash", FIELD_CHARS, 0, T, recipe_hash), FIELDS_END};
#undef NORMS
#undef T

static struct json *local_document(const struct sotto_local_sensitivity *s)
{
    struct json *doc = fields_object(local_head_members, s);
    json_put_boolean(&doc, "exact", s->tried == s->records);
    fields_put(&doc, local_members, s);
    return doc;
}

sotto_status sotto_local_sensitivity_json(char **json, const struct sotto_local_sensitivity *s)
{
    REQUIRE_GIVEN(json, s);
    struct json *doc = local_document(s);
    sotto_status status = json_dump(json, doc, JSON_LINE);
    json_free(doc);
    return status;
}

sotto_status sotto_local_sensitivity_save(const char *path, const struct sotto_local_sensitivity *s)
{
    REQUIRE_GIVEN(path, s);
    struct json *doc = local_document(s);
    sotto_status status = json_write_file(path, doc, JSON_PRETTY);
    json_free(doc);
    return status;
}
