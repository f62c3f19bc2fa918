/* sotto selftest: known answers on this machine; with --falsify an attack on every mechanism. */
#include "options.h"

#include <stdio.h>
#include <string.h>

static const struct option_row rows[] = {
    {"falsify", OPTION_FLAG, NULL, NULL,
     "also attack every mechanism, and copies of it with historical bugs planted, as a black box (minutes)",
     NULL},
    {"draws", OPTION_COUNT, "N", "1000000", "with --falsify: draws per input and mechanism", NULL},
    {NULL, OPTION_FLAG, NULL, NULL, NULL, NULL}};

static void print_table(const struct sotto_selftest *t)
{
    const char *group = "";
    for (size_t i = 0; i < t->count; i++) {
        const struct sotto_check *c = &t->checks[i];
        if (strcmp(c->group, group) != 0)
            printf("%s\n", group = c->group);
        printf("  %-4s  %-62s %s\n", c->ok ? "ok" : "FAIL", c->name, c->detail);
    }
    if (t->falsifier_tests)
        printf("falsifier: %zu tests on %zu draws per input; a correct build is accused with probability "
               "below %g\n",
               t->falsifier_tests, t->falsifier_draws, t->falsifier_alarm);
    printf("%zu checks, %zu failed\n", t->count, t->failed);
}

static sotto_status run(const struct options *o, const struct sotto_context *ctx, int json)
{
    const struct sotto_selftest_options options = {option_flag(o, "falsify"),
                                                   (size_t)option_count(o, "draws")};
    struct sotto_selftest t = {0};
    sotto_status status;
    if (option_given(o, "draws") && !options.falsify)
        return cli_fail(SOTTO_EUSAGE, "selftest: --draws goes with --falsify");
    if (option_given(o, "draws") && options.draws == 0)
        return cli_fail(SOTTO_EINVAL, "selftest: --draws must be at least 1000 (got 0)");
    status = sotto_selftest(&t, &options, ctx);
    if (status != SOTTO_OK && status != SOTTO_EGATE)
        return status;
    if (json) {
        char *text = NULL;
        sotto_status written = sotto_selftest_json(&text, &t);
        if (written == SOTTO_OK)
            printf("%s\n", text);
        else
            status = written;
        sotto_text_free(text);
    } else {
        print_table(&t);
    }
    sotto_selftest_clear(&t);
    return status;
}

const struct verb verb_selftest = {
    .name = "selftest",
    .summary = "known answers and samplers on this machine; --falsify attacks every mechanism",
    .arguments = "",
    .examples = "  sotto selftest\n"
                "  sotto selftest --falsify --json",
    .options = rows,
    .run = run};
