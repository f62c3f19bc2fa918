#include "verbs/pretrain_plan.h"
#include "verbs/autotune_output.h"

#include <stdio.h>

/* Speeds of a network for which the model is shown, and the share of ideal speed below which more ranks are not recommended. */
static const double gigabits[] = {1, 10, 100};
enum { NETWORKS = sizeof gigabits / sizeof *gigabits, MOST = 512 };
static const double worth = .8;

sotto_status pretrain_plan_check(const struct options *o)
{
    if (cli_team())
        return cli_fail(SOTTO_EUSAGE, "pretrain: --plan times one process; start it without the launcher");
    if (option_given(o, "output"))
        return cli_fail(SOTTO_EUSAGE, "pretrain: --plan trains nothing; omit --output");
    return SOTTO_OK;
}

static double pretrain_plan_hours(const struct sotto_pretrain_plan *p, size_t ranks, double gigabit)
{
    return (double)p->steps * sotto_pretrain_plan_step(p, ranks, 8e-9 / gigabit) / 3600;
}

/* Of the speed of one process times the number of ranks. */
static double pretrain_plan_share(const struct sotto_pretrain_plan *p, size_t ranks, double gigabit)
{
    return pretrain_plan_hours(p, 1, gigabit) / ((double)ranks * pretrain_plan_hours(p, ranks, gigabit));
}

/* 1, 2, 4, ... as long as each rank has a leaf. */
static int has_work(const struct sotto_pretrain_plan *p, size_t ranks)
{
    return ranks == 1 || (p->exact && ranks <= p->leaves && ranks <= MOST);
}

static size_t pretrain_plan_recommended(const struct sotto_pretrain_plan *p, double gigabit)
{
    size_t best = 1;
    for (size_t ranks = 2; has_work(p, ranks); ranks *= 2)
        best = pretrain_plan_share(p, ranks, gigabit) >= worth ? ranks : best;
    return best;
}

static void print_json(const struct sotto_pretrain_plan *p, const char *choice)
{
    printf("{\"schema\": \"sotto.pretrain-plan/1\", \"steps\": %llu, \"batch\": %zu, \"order\": \"%s\", "
           "\"leaf\": %zu, \"leaves\": %zu, "
           "\"threads\": %zu, \"parameters\": %zu, \"planned_bytes\": %zu, \"exchange_bytes\": %zu, "
           "\"step_seconds\": %.6g, "
           "\"loss_seconds\": %.6g, %s, \"model\": [",
           (unsigned long long)p->steps, p->batch, p->exact ? "exact" : "fast", p->leaf, p->leaves,
           p->threads, p->parameters, p->planned_bytes, p->exchange_bytes, p->step_seconds, p->loss_seconds,
           choice);
    for (size_t ranks = 1; has_work(p, ranks); ranks *= 2)
        for (size_t i = 0; i < NETWORKS; i++)
            printf("%s{\"ranks\": %zu, \"gigabits\": %g, \"hours\": %.4g}", ranks + i > 1 ? ", " : "", ranks,
                   gigabits[i], pretrain_plan_hours(p, ranks, gigabits[i]));
    printf("], \"recommended_ranks\": %zu}\n", pretrain_plan_recommended(p, 10));
}

static void print_text(const struct sotto_pretrain_plan *p, const char *choice)
{
    printf("%llu steps of %zu images on %zu thread%s, %.0f MiB; nothing was trained\n%s\n",
           (unsigned long long)p->steps, p->batch, p->threads, p->threads == 1 ? "" : "s",
           (double)p->planned_bytes / (1 << 20), choice);
    printf("a step takes %.4g s here (median of 3), of it the loss %.4g s: %.3g hours in all\n",
           p->step_seconds, p->loss_seconds, pretrain_plan_hours(p, 1, 1));
    if (!p->exact) {
        printf("order fast: one process; with --order exact the same bits come from any number of ranks\n");
        return;
    }
    printf("%zu leaves of %zu images: no more threads than that have work, on all ranks together\n\n"
           "By a model, not measured (docs/SCALE.md): hours on R ranks like this process, and the share of "
           "ideal speed; %.3g MB go over the "
           "network in a step\n\n%8s",
           p->leaves, p->leaf, (double)p->exchange_bytes / 1e6, "R");
    for (size_t i = 0; i < NETWORKS; i++)
        printf("  %10g Gbit/s", gigabits[i]);
    for (size_t ranks = 1; has_work(p, ranks); ranks *= 2) {
        printf("\n%8zu", ranks);
        for (size_t i = 0; i < NETWORKS; i++)
            printf("  %9.3g  %3.0f %%", pretrain_plan_hours(p, ranks, gigabits[i]),
                   100 * pretrain_plan_share(p, ranks, gigabits[i]));
    }
    printf("\n\nat 10 Gbit/s: %zu ranks (the most that keep %.0f %% of ideal speed)\n",
           pretrain_plan_recommended(p, 10), 100 * worth);
}

sotto_status pretrain_plan_print(const struct sotto_dataset *data, const struct sotto_array *chosen,
                                 const struct sotto_pretrain_options *options,
                                 const struct sotto_context *ctx, int json)
{
    struct sotto_pretrain_plan plan;
    char choice[AUTOTUNE_OUTPUT];
    TRY_OR_RETURN(sotto_pretrain_plan(&plan, data, chosen->data, chosen->count, options, ctx));
    autotune_output(choice, &plan.choice, "images", json);
    if (json)
        print_json(&plan, choice);
    else
        print_text(&plan, choice);
    return SOTTO_OK;
}
