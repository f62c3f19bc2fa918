/* All JSON of a verification: the entry of the ledger, and the report. */
#include "base/memory.h"
#include "dp/dpsgd/dpsgd_json.h"
#include "dp/ledger_line/ledger_line.h"
#include "dp/mechanism/mechanism.h"
#include "dp/release/verification.h"
#include "io/json/json.h"
#include "sotto/lab/certificate.h"

#include <string.h>

/* ---- the ledger's entry ---- */

void entry_claims_get(struct entry_claims *out, const struct json *entry)
{
    *out = (struct entry_claims){.event = json_text(json_find(entry, "event")),
                                 .randomness = json_text(json_find(entry, "randomness")),
                                 .nonce = json_text(json_find(entry, "input_nonce")),
                                 .input = json_text(json_find(entry, "input_sha256")),
                                 .index = json_whole(json_find(entry, "index")),
                                 .charge = json_member(entry, LEDGER_CHARGE_NUMBER)
                                               ? json_whole(json_member(entry, LEDGER_CHARGE_NUMBER))
                                               : -1};
}

/* Some members as one text; what is missing is null. */
static sotto_status members_of(char **text, const struct json *from, const char *const *keys)
{
    struct json *some = json_make_object();
    for (; *keys; keys++) {
        const struct json *member = json_member(from, *keys);
        json_put(&some, *keys, member ? json_clone(member) : json_make_null());
    }
    sotto_status status = json_dump(text, some, JSON_SORTED);
    json_free(some);
    return status;
}

sotto_status verify_members(struct verification *v, const char *name, const struct json *entry,
                            bool of_account, const char *const *keys)
{
    sotto_status status = SOTTO_OK;
    char *theirs = NULL, *mine = NULL;
    TRY(members_of(&theirs, entry, keys));
    TRY(members_of(&mine, of_account ? claimed_account(&v->claims) : v->claims.document, keys));
    verify_check(v, name, strcmp(theirs, mine) == 0, "%.300s", theirs);
done:
    base_free(theirs);
    base_free(mine);
    return status;
}

sotto_status verify_reservations(bool *same, const struct verification *v,
                                 const struct dpsgd_reservations *run)
{
    sotto_status status = SOTTO_OK;
    struct json *listed = dpsgd_reservations_json(run);
    char *mine = NULL, *theirs = NULL;
    TRY(json_dump(&mine, json_find(v->claims.document, "run.reservations"), JSON_SORTED));
    TRY(json_dump(&theirs, listed, JSON_SORTED));
    *same = strcmp(mine, theirs) == 0;
done:
    json_free(listed);
    base_free(mine);
    base_free(theirs);
    return status;
}

/* ---- the report ---- */

static void put_claim(struct json **object, const struct sotto_verification *v)
{
    bool claimed = v->guarantee != SOTTO_GUARANTEE_NONE;
    struct json *epsilon = claimed ? json_make_object() : json_make_null();
    if (claimed) {
        json_put_real(&epsilon, "lower", v->epsilon.lower);
        json_put_real(&epsilon, "upper", v->epsilon.upper);
    }
    json_put_text(object, "guarantee", sotto_guarantee_name(v->guarantee));
    json_put(object, "epsilon", epsilon);
    json_put_real(object, "delta", v->delta);
    json_put_text(object, "adjacency", v->adjacency);
    json_put_text(object, "unit_of_privacy", v->unit);
    json_put_text(object, "mechanism", v->mechanism);
    json_put_real(object, "scale", v->scale);
    json_put(object, "records", v->records ? json_make_integer((int64_t)v->records) : json_make_null());
    json_put_text(object, "proved", verification_proved(v));
    json_put_text(object, "condition", v->condition);
    json_put_text(object, "measured", v->measured);
}

/* Checks that were made, and lines about those that were not. */
static void put_checks(struct json **object, const struct sotto_verification *v)
{
    struct json *checked = json_make_array(), *open = json_make_array(), *checks = json_make_array();
    for (size_t i = 0; i < v->checked_count; i++)
        json_push(&checked, json_make_text(v->checked[i]));
    for (size_t i = 0; i < v->check_count; i++) {
        const struct sotto_verify_check *c = &v->checks[i];
        if (c->outcome == SOTTO_VERIFY_NOT_MADE) {
            json_push(&open, json_make_text(c->text));
            continue;
        }
        struct json *one = json_make_object();
        json_put_text(&one, "check", c->name);
        json_put_boolean(&one, "ok", c->outcome == SOTTO_VERIFY_PASSED);
        json_put_text(&one, "detail", c->text);
        json_push(&checks, one);
    }
    json_put(object, "checked", checked);
    json_put(object, "not_checked", open);
    json_put(object, "checks", checks);
}

sotto_status sotto_verification_encode(char **json, const struct sotto_verification *v)
{
    REQUIRE_GIVEN(json, v);
    struct json *object = json_make_object();
    json_put_text(&object, "schema", "sotto.verify/1");
    json_put_text(&object, "certificate", v->certificate);
    json_put_boolean(&object, "valid", !v->failed && !v->undecided);
    json_put_text(&object, "failed", v->failed);
    json_put_text(&object, "undecided", v->undecided);
    put_claim(&object, v);
    json_put_boolean(&object, "signed", v->signed_by != NULL);
    json_put_text(&object, "public_key", v->signed_by);
    put_checks(&object, v);
    sotto_status status = json_dump(json, object, JSON_PRETTY);
    json_free(object);
    return status;
}
