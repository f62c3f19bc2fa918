/* sotto selftest: known answers on this machine; with --falsify an attack on every mechanism. */
#include "inputs/shard.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct option_row rows[] = {OPTION_TABLE("selftest", "falsify|draws|runs|only|shard"),
                                         OPTION_END};

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
        printf("falsifier: %zu tests on %zu draws per input; probability of a false alarm below %g\n",
               t->falsifier_tests, t->falsifier_draws, t->falsifier_alarm);
    printf("%zu checks, %zu failed\n", t->count, t->failed);
}

static sotto_status verb_selftest_run(const struct options *o, const struct sotto_context *ctx, int json)
{
    static const char *const with_falsify[] = {"draws", "runs", "only", "shard"};
    char program[4096];
    struct sotto_selftest_options options = {.program = program};
    struct sotto_selftest t = {0};
    TRY_OR_RETURN(option_members(&options, sotto_option_table("selftest"), o));
    TRY_OR_RETURN(shard_read(&options.shard, &options.shards, o));
    for (size_t i = 0; i < sizeof with_falsify / sizeof *with_falsify; i++)
        if (option_given(o, with_falsify[i]) && !options.falsify)
            return cli_fail(SOTTO_EUSAGE, "selftest: --%s needs --falsify", with_falsify[i]);
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0)
        return cli_fail(SOTTO_EIO,
                        "selftest: /proc/self/exe cannot be read; expected the path of this program");
    program[length] = '\0';
    sotto_status status = sotto_selftest(&t, &options, ctx);
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
    .summary =
        "check known answers and noise samplers on this machine; with --falsify, attack every mechanism",
    .arguments = "",
    .examples = "  sotto selftest\n"
                "  sotto selftest --falsify --json",
    .floor = FLOOR_RUN,
    .ranks = RANK_0,
    .options = rows,
    .most_used = "falsify|draws|runs|only|shard|json",
    .run = verb_selftest_run};
