#include "dp/ledger/spend.h"
#include "dp/certificate/condition_words.h"
#include "dp/ledger/charge.h"
#include "dp/mechanism/require.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct sotto_spend spend_complete(const struct sotto_spend *given, const char *dataset_id,
                                  const char *purpose, uint64_t stream)
{
    struct sotto_spend s = *given;
    if (!s.dataset_id)
        s.dataset_id = dataset_id;
    if (!s.purpose)
        s.purpose = purpose;
    s.insecure_seed += stream;
    return s;
}

bool spend_given(double x)
{
    return x != 0 && !isnan(x);
}

double spend_delta(double delta, double otherwise)
{
    return delta == SOTTO_DELTA_PURE ? 0 : spend_given(delta) ? delta : otherwise;
}

struct sotto_dp spend_budget(const struct sotto_spend *s)
{
    return (struct sotto_dp){s->budget.epsilon, spend_delta(s->budget.delta, NAN)};
}

/* What was given and what was read from the private data, as one condition. */
static sotto_status gather_conditions(char out[CONDITION_TEXT], const struct sotto_spend *s)
{
    int length = snprintf(out, CONDITION_TEXT, "%s", s->condition ? s->condition : "");
    for (const char *const *name = s->read_from_data; name && *name && length < CONDITION_TEXT; name++)
        length += snprintf(out + length, CONDITION_TEXT - (size_t)length, "%s%s" CONDITION_READ_FROM_DATA,
                           length ? ", and on " : "", *name);
    if (length >= CONDITION_TEXT)
        return status_fail(SOTTO_EINVAL, "condition: %d characters; expected at most %d", length,
                           CONDITION_TEXT - 1);
    return SOTTO_OK;
}

static bool is_capped(const struct sotto_spend *s)
{
    return s->provenance && s->provenance->rows_per_person > 0;
}

size_t spend_rows(const struct sotto_spend *s)
{
    return is_capped(s) ? s->provenance->rows_per_person : s->rows_per_person;
}

/* A cap that an import enforced; or what the caller states of the records, which nothing checks. */
static sotto_status find_unit(struct privacy_unit *out, char condition[CONDITION_TEXT],
                              const struct sotto_spend *s)
{
    sotto_status status = SOTTO_OK;
    const size_t length = strlen(condition);
    out->rows = spend_rows(s);
    out->person[0] = '\0';
    REQUIRE(out->rows <= UNIT_ROWS, "%zu rows per person; expected at most %d", out->rows, UNIT_ROWS);
    REQUIRE(!is_capped(s) || s->rows_per_person == 0 || s->rows_per_person == out->rows,
            "the records hold at most %zu rows of a person (column %s), not %zu; omit {rows_per_person}",
            out->rows, s->provenance->person, s->rows_per_person);
    if (is_capped(s))
        snprintf(out->person, sizeof out->person, "%s", s->provenance->person);
    else if (out->rows &&
             snprintf(condition + length, CONDITION_TEXT - length, "%sthat a person has at most %zu %s",
                      length ? ", and on " : "", out->rows,
                      out->persons ? UNIT_STATED_WHOLE : UNIT_STATED) >= (int)(CONDITION_TEXT - length))
        FAIL(SOTTO_EINVAL, "condition: too long; expected at most %d characters", CONDITION_TEXT - 1);
done:
    return status;
}

sotto_status spend_check(const char **dataset_id, char condition[CONDITION_TEXT], struct privacy_unit *unit,
                         const struct sotto_spend *s)
{
    sotto_status status = SOTTO_OK;
    char given[CONDITION_TEXT];
    struct privacy_unit found = {.persons = unit ? unit->persons : 0};
    REQUIRE(!s->planned,
            "planned: slots of a plan are for one release by 'sotto protect' and for private training by "
            "'sotto head' or 'sotto train'; omit it, and this is charged by itself");
    TRY(charge_identity(dataset_id, s->dataset_id, s->provenance));
    TRY(ledger_require_budget(spend_budget(s)));
    TRY(sotto_provenance_once(s->provenance));
    TRY(gather_conditions(given, s));
    TRY(certificate_condition(condition, given, s->provenance));
    TRY(find_unit(&found, condition, s));
    TRY(spend_meet_shapings(condition, *dataset_id, s));
    REQUIRE(unit || found.rows == 0,
            "the unit of privacy of these records is a person, but this release has an account of single "
            "records only; give another mechanism or trainer");
    if (unit)
        *unit = found;
done:
    return status;
}

sotto_status spend_require_slot_alone(const struct sotto_spend *s)
{
    sotto_status status = SOTTO_OK;
    const char *const *others = s->source ? s->source->same_people : NULL;
    REQUIRE(
        !spend_given(s->budget.epsilon) && !(others && *others),
        "planned: a release of a plan is charged already; give budget and same-people-as to 'sotto ledger "
        "plan'");
done:
    return status;
}

sotto_status spend_require_adjacency(enum sotto_adjacency adjacency)
{
    if (adjacency != SOTTO_REPLACE_ONE && adjacency != SOTTO_ZERO_OUT)
        return status_fail(
            SOTTO_EINVAL,
            "adjacency %s: expected replace-one or zero-out, as the number of records is public "
            "in private training",
            sotto_adjacency_name(adjacency));
    return SOTTO_OK;
}

sotto_status spend_noise(struct noise **stream, const struct sotto_spend *s)
{
    return s->insecure ? noise_open_insecure(stream, s->insecure_seed) : noise_open(stream);
}

const char *spend_randomness(const struct sotto_spend *s)
{
    return s->insecure ? "noise was seeded: no privacy guarantee" : "os";
}
