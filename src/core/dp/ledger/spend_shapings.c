/* The one place where what shaped the columns meets the records that are charged: every release, reservation and private training
 * comes by here. Records of two identities are never compared: a refusal would tell whether a record is in a set. */
#include "base/memory.h"
#include "dp/ledger/spend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_row(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* "the encoder e.safetensors" */
static void name_shaping(char out[160], const struct sotto_shaping *s)
{
    snprintf(out, 160, "the %s%s%s", s->what, s->name[0] ? " " : "", s->name);
}

/* Is it of the people who are charged? */
static bool is_charged(const struct sotto_shaping *shaping, const char *dataset_id,
                       const struct sotto_spend *s)
{
    const char *const *same = s->source ? s->source->same_people : NULL;
    if (!shaping->dataset_id[0])
        return false;
    if (strcmp(shaping->dataset_id, dataset_id) == 0)
        return true;
    for (; same && *same; same++)
        if (strcmp(shaping->dataset_id, *same) == 0)
            return true;
    return false;
}

/* Row numbers are the caller's choice, so that naming one tells nothing of the records. */
static sotto_status require_other_rows(const struct sotto_shaping *s, const struct sotto_provenance *own)
{
    sotto_status status = SOTTO_OK;
    char what[160];
    const bool trained = strcmp(s->what, "encoder") == 0, holds = strcmp(s->what, "moments") == 0;
    const char *holds_row = trained ? "was trained on" : holds ? "contains" : "was made from";
    name_shaping(what, s);
    REQUIRE(
        s->rows && own && own->rows && strcmp(s->set, own->set) == 0 &&
            strcmp(s->dataset_id, own->dataset_id) == 0,
        "%s %s records of '%s', to which the private ones belong, and it is not known that they are others; "
        "expected other rows of the same import, or another data set",
        what, holds_row, s->dataset_id);
    for (size_t i = 0; i < own->n; i++)
        REQUIRE(!bsearch(&own->rows[i], s->rows, s->n, sizeof *s->rows, by_row),
                "%s %s row %lld of '%s', which is to be private; expected %s other records", what, holds_row,
                (long long)own->rows[i], own->set,
                trained ? "an encoder of"
                : holds ? "embeddings of"
                        : "one that was made from");
done:
    return status;
}

static const char everything_else[] =
    ", and on all else that shaped the columns not depending on these records either";

/* One more condition, if it is not there yet; where there is no room for all of them, the last one stands for the rest. */
static sotto_status add_condition(char condition[CONDITION_TEXT], const struct sotto_shaping *s)
{
    char what[160], text[256];
    const size_t length = strlen(condition);
    const char last = s->what[0] ? s->what[strlen(s->what) - 1] : 'r';
    name_shaping(what, s);
    snprintf(text, sizeof text, "%s do%s not depend on these records", what,
             last == 's' || last == 'i' ? "" : "es"); /* moments, loci */
    if (strstr(condition, text) || strstr(condition, everything_else))
        return SOTTO_OK;
    if (length + strlen(text) + sizeof ", and on " + sizeof everything_else <= CONDITION_TEXT)
        snprintf(condition + length, CONDITION_TEXT - length, "%s%s", length ? ", and on " : "", text);
    else if (length + sizeof everything_else <= CONDITION_TEXT)
        snprintf(condition + length, CONDITION_TEXT - length, "%s", everything_else);
    else
        return status_fail(SOTTO_EINVAL, "condition: too long; expected at most %d characters",
                           CONDITION_TEXT - (int)sizeof everything_else);
    return SOTTO_OK;
}

void spend_state_shapings(char out[SHAPED_TEXT], const char *dataset_id, const struct sotto_spend *s)
{
    const struct sotto_provenance *p = s->provenance;
    size_t length = 0;
    out[0] = '\0';
    for (size_t i = 0; p && i < p->shapings; i++) {
        char what[160], text[256];
        name_shaping(what, &p->shaped_by[i]);
        snprintf(text, sizeof text, "%s: %s", what,
                 is_charged(&p->shaped_by[i], dataset_id, s) ? "other rows of the same data set"
                 : p->shaped_by[i].is_public                 ? "a public set"
                                                             : "not compared with these records");
        const bool fits = length + strlen(text) + sizeof "; ; and others" < SHAPED_TEXT;
        length += (size_t)snprintf(out + length, SHAPED_TEXT - length, "%s%s", length ? "; " : "",
                                   fits ? text : "and others");
        if (!fits)
            break;
    }
}

sotto_status spend_meet_shapings(char condition[CONDITION_TEXT], const char *dataset_id,
                                 const struct sotto_spend *s)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_provenance *p = s->provenance;
    for (size_t i = 0; p && i < p->shapings; i++) {
        const struct sotto_shaping *shaping = &p->shaped_by[i];
        const bool charged = is_charged(shaping, dataset_id, s);
        if (charged)
            TRY(require_other_rows(shaping, p));
        const bool persons =
            p->rows_per_person > 0 || s->rows_per_person > 0; /* other rows may be of the same one */
        if (!shaping->is_public && (!charged || persons))
            TRY(add_condition(condition, shaping));
    }
done:
    return status;
}
