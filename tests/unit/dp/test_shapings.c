/* spend_shapings.c: what shaped the columns against the records that are charged. Identities decide; records of two are not compared. */
#include "support/test.h"

#include "dp/ledger/spend.h"

#include <stdio.h>
#include <string.h>

static int64_t own_rows[] = {7, 0, 3}, apart[] = {1, 2, 4}, shared[] = {2, 3};
static const struct sotto_provenance own = {
    .dataset_id = "people", .set = "people", .n = 3, .rows = own_rows};

static struct sotto_provenance rows_of(const char *id, const char *set, int64_t *rows, size_t n)
{
    struct sotto_provenance p = {.n = n, .rows = rows};
    strcpy(p.dataset_id, id);
    strcpy(p.set, set);
    return p;
}

/* The records `charged`, shaped by the encoder "folder/e" of `by`. */
static sotto_status meet_as(char condition[CONDITION_TEXT], const struct sotto_provenance *charged,
                            const struct sotto_provenance *by, int is_public, const char *const *same,
                            size_t rows_per_person)
{
    struct sotto_provenance p = {0};
    const struct sotto_source_records source = {.same_people = same};
    assert_int_equal(sotto_provenance_copy(&p, charged), SOTTO_OK);
    assert_int_equal(sotto_provenance_shape(&p, "encoder", "folder/e", by, is_public), SOTTO_OK);
    p.rows_per_person = rows_per_person;
    condition[0] = '\0';
    const sotto_status status =
        spend_meet_shapings(condition, "people", &(struct sotto_spend){.provenance = &p, .source = &source});
    sotto_provenance_clear(&p);
    return status;
}

static sotto_status meet(char condition[CONDITION_TEXT], const struct sotto_provenance *by, int is_public)
{
    return meet_as(condition, &own, by, is_public, NULL, 0);
}

TEST(rows_of_one_import_are_compared)
{
    char condition[CONDITION_TEXT];
    struct sotto_provenance by = rows_of("people", "people", apart, 3);
    assert_int_equal(meet(condition, &by, 0), SOTTO_OK);
    assert_string_equal(condition, "");
    by = rows_of("people", "people", shared, 2);
    assert_int_equal(meet(condition, &by, 0), SOTTO_EINVAL);
    assert_non_null(
        strstr(sotto_error_text(), "the encoder e was trained on row 3 of 'people', which is to be private"));
    by = rows_of("people", "again", apart, 3); /* another import of the same people */
    assert_int_equal(meet(condition, &by, 0), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "it is not known that they are others"));
    by = rows_of("people", "", NULL, 3);
    assert_int_equal(meet(condition, &by, 0), SOTTO_EINVAL);
    by = rows_of("people", "people", apart, 3); /* charged rows that are unknown */
    assert_int_equal(meet_as(condition, &(struct sotto_provenance){0}, &by, 0, NULL, 0), SOTTO_EINVAL);
    assert_int_equal(meet_as(condition, &own, &by, 0, NULL, 2),
                     SOTTO_OK); /* other rows, and maybe the same person */
    assert_string_equal(condition, "the encoder e does not depend on these records");
}

TEST(records_of_another_identity_are_not_compared)
{
    char condition[CONDITION_TEXT];
    const char *const same[] = {"others", NULL};
    struct sotto_provenance by = rows_of("others", "people", own_rows, 3); /* the very same rows */
    assert_int_equal(meet(condition, &by, 0), SOTTO_OK);
    assert_string_equal(condition, "the encoder e does not depend on these records");
    assert_int_equal(meet(condition, NULL, 0), SOTTO_OK); /* nobody knows */
    assert_string_equal(condition, "the encoder e does not depend on these records");
    by.dataset_id[0] = '\0';
    assert_int_equal(meet(condition, &by, 0), SOTTO_OK);
    assert_string_equal(condition, "the encoder e does not depend on these records");
    by = rows_of("others", "people", apart, 3);
    assert_int_equal(meet_as(condition, &own, &by, 0, same, 0),
                     SOTTO_EINVAL); /* the user says that they are the same */
    by = rows_of("synthetic-images", "synthetic-images", apart, 3);
    assert_int_equal(meet(condition, &by, 1), SOTTO_OK);
    assert_string_equal(condition, "");
}

TEST(a_certificate_lists_what_shaped_the_columns)
{
    char text[SHAPED_TEXT];
    struct sotto_provenance p = {0}, other = rows_of("people", "people", apart, 3),
                            generated = rows_of("synthetic-blobs", "synthetic-blobs", apart, 3);
    const struct sotto_spend s = {.provenance = &p};
    assert_int_equal(sotto_provenance_copy(&p, &own), SOTTO_OK);
    spend_state_shapings(text, "people", &s);
    assert_string_equal(text, "");
    assert_int_equal(sotto_provenance_shape(&p, "encoding", "of part public", &other, 0), SOTTO_OK);
    assert_int_equal(sotto_provenance_shape(&p, "encoder", "e", &generated, 1), SOTTO_OK);
    assert_int_equal(sotto_provenance_shape(&p, "moments", "m.npy", NULL, 0), SOTTO_OK);
    spend_state_shapings(text, "people", &s);
    assert_string_equal(
        text, "the encoding of part public: other rows of the same data set; the encoder e: a public set; "
              "the moments m.npy: not compared with these records");
    for (int i = 0; i < 9; i++) {
        char name[100];
        snprintf(name, sizeof name, "%090d", i);
        assert_int_equal(sotto_provenance_shape(&p, "moments", name, NULL, 0), SOTTO_OK);
    }
    spend_state_shapings(text, "people", &s);
    assert_non_null(strstr(text, "; and others"));
    sotto_provenance_clear(&p);
}

TEST(many_conditions_fit)
{
    char condition[CONDITION_TEXT] = "the sampled sensitivity", name[128];
    struct sotto_provenance p = {0};
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "%080d", i);
        assert_int_equal(sotto_provenance_shape(&p, "moments", name, NULL, 0), SOTTO_OK);
        assert_int_equal(sotto_provenance_shape(&p, "moments", name, NULL, 0), SOTTO_OK); /* not said twice */
    }
    assert_int_equal(p.shapings, 40);
    assert_int_equal(spend_meet_shapings(condition, "people", &(struct sotto_spend){.provenance = &p}),
                     SOTTO_OK);
    assert_non_null(strstr(condition, "the sampled sensitivity, and on the moments 0000"));
    assert_non_null(strstr(condition, "0 do not depend on these records"));
    assert_non_null(
        strstr(condition, ", and on all else that shaped the columns not depending on these records either"));
    memset(condition, 'c', sizeof condition - 9); /* one without room for a word more */
    condition[sizeof condition - 9] = '\0';
    assert_int_equal(spend_meet_shapings(condition, "people", &(struct sotto_spend){.provenance = &p}),
                     SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "condition: too long; expected at most "));
    sotto_provenance_clear(&p);
}
