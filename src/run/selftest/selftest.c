/* The order of the groups, the folder they write to, and the report. */
#include "base/file.h"
#include "options/option_tables.h"
#include "selftest/checks.h"
#include "sotto/option.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void sotto_selftest_clear(struct sotto_selftest *t)
{
    GIVEN_OR(, t);
    base_free(t->checks);
    *t = (struct sotto_selftest){0};
}

static const struct sotto_check *first_failure(const struct sotto_selftest *t)
{
    const struct sotto_check *check = t->checks;
    while (check->ok)
        check++;
    return check;
}

static sotto_status check_groups(struct checks *c, const char *folder, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    static void (*const groups[])(struct checks *) = {selftest_known_answers, selftest_agreement,
                                                      selftest_samplers, selftest_randomness};
    enum { GROUPS = sizeof groups / sizeof *groups };
    for (size_t i = 0; i < GROUPS; i++) {
        context_progress(ctx, "self-test", i, GROUPS + 1, "groups");
        groups[i](c);
        TRY(context_check(ctx, "selftest: stopped"));
    }
    selftest_files(c, folder);
    context_progress(ctx, "self-test", GROUPS + 1, GROUPS + 1, "groups");
done:
    return status;
}

/* No attack is asked for: a part, or a text, that has none. */
static sotto_status nothing_found(const struct sotto_selftest_options *o)
{
    if (o->shards > 1)
        return status_fail(SOTTO_EINVAL,
                           "selftest: part %zu of %zu has no attack that is asked for; expected fewer parts",
                           o->shard + 1, o->shards);
    return status_fail(SOTTO_EINVAL,
                       "selftest: no attack has '%s' in its name; 'sotto selftest --falsify' lists them",
                       o->only);
}

sotto_status sotto_selftest(struct sotto_selftest *out, const struct sotto_selftest_options *options,
                            const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out);
    sotto_status status = SOTTO_OK;
    struct sotto_context quiet = context_quiet(ctx, 0);
    struct checks c = {.group = "", .ctx = &quiet};
    char folder[256] = "";
    struct sotto_selftest_options o;
    TRY(sotto_options_resolve(&o, options, options_selftest));
    status = sotto_options_check(&o, options_selftest, NULL);
    if (status == SOTTO_OK)
        status = folder_temporary(folder, sizeof folder, "sotto-selftest");
    if (status != SOTTO_OK) {
        status_prefix("selftest");
        goto done;
    }
    const bool part = o.only || o.shards > 1;
    if (o.shard >= o.shards)
        FAIL(SOTTO_EINVAL, "selftest: shard must be below %zu, the number of shards (got %zu)", o.shards,
             o.shard);
    if (!part)
        TRY(check_groups(&c, folder, ctx));
    if (o.falsify)
        TRY(selftest_falsify(&c, folder, &o, ctx));
    if (part && c.found.count == 0)
        TRY(nothing_found(&o));
    if (c.out_of_memory)
        FAIL(SOTTO_ENOMEM, "selftest: out of memory");
    *out = c.found;
    c.found.checks = NULL;
    if (out->failed) {
        const struct sotto_check *f = first_failure(out);
        FAIL(SOTTO_EGATE, "selftest: %zu of %zu checks failed; first %s: %s: %s", out->failed, out->count,
             f->group, f->name, f->detail);
    }
done:
    if (folder[0])
        rmdir(folder);
    base_free(c.found.checks);
    return status;
}
