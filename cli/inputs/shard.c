#include "inputs/shard.h"

#include "options/options_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Variables of one scheduler or launcher: this task's number, the first one, the last one or how many there are, the step
 * between two. NULL: there is none. */
static const struct source {
    const char *number, *first, *last, *count, *step;
} arrays[] = {{.number = "SLURM_ARRAY_TASK_ID",
               .first = "SLURM_ARRAY_TASK_MIN",
               .count = "SLURM_ARRAY_TASK_COUNT",
               .step = "SLURM_ARRAY_TASK_STEP"},
              {.number = "PBS_ARRAY_INDEX"}, /* PBS says neither first nor last */
              {.number = "SGE_TASK_ID",
               .first = "SGE_TASK_FIRST",
               .last = "SGE_TASK_LAST",
               .step = "SGE_TASK_STEPSIZE"}},
  ranks[] = {{.number = "OMPI_COMM_WORLD_RANK", .count = "OMPI_COMM_WORLD_SIZE"},
             {.number = "PMI_RANK", .count = "PMI_SIZE"},
             {.number = "SLURM_PROCID", .count = "SLURM_STEP_NUM_TASKS"}};

struct part {
    size_t index, count; /* count 0: not known */
};

/* SGE says "undefined" where there is no array. */
static int is_set(const char *name)
{
    const char *text = name ? getenv(name) : NULL;
    return text && text[0] && strcmp(text, "undefined") != 0;
}

static sotto_status shard_number(size_t *out, const char *name, size_t otherwise)
{
    char *end = NULL;
    *out = otherwise;
    if (!is_set(name))
        return SOTTO_OK;
    const char *text = getenv(name);
    errno = 0;
    const unsigned long long value = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
    if (!end || *end || errno || value > 1000000000)
        return cli_fail(SOTTO_EUSAGE,
                        "--shard auto: environment variable %s is '%s'; expected a whole number", name, text);
    *out = (size_t)value;
    return SOTTO_OK;
}

static sotto_status read_source(struct part *out, const struct source *s)
{
    size_t at, first, last, step;
    TRY_OR_RETURN(shard_number(&at, s->number, 0));
    TRY_OR_RETURN(shard_number(&first, s->first, 0));
    TRY_OR_RETURN(shard_number(&step, s->step, 1));
    TRY_OR_RETURN(shard_number(&out->count, s->count, 0));
    TRY_OR_RETURN(shard_number(&last, s->last, 0));
    step = step ? step : 1;
    if (is_set(s->last) && last >= first)
        out->count = (last - first) / step + 1;
    if (at < first || (at - first) % step || (out->count && (at - first) / step >= out->count))
        return cli_fail(
            SOTTO_EUSAGE,
            "--shard auto: %s is %zu, which is not one of %zu tasks from %zu in steps of %zu; give the "
            "array as one range, or --shard I/N",
            s->number, at, out->count, first, step);
    out->index = (at - first) / step;
    return SOTTO_OK;
}

/* *set: one of the sources is there. */
static sotto_status shard_find(struct part *out, int *set, const struct source *s, size_t sources)
{
    *set = 0;
    *out = (struct part){0, 1};
    for (size_t i = 0; i < sources && !*set; i++)
        if (is_set(s[i].number)) {
            *set = 1;
            return read_source(out, &s[i]);
        }
    return SOTTO_OK;
}

static sotto_status read_auto(size_t *shard, size_t *shards, size_t of)
{
    struct part array, rank;
    int in_array, with_ranks;
    TRY_OR_RETURN(shard_find(&array, &in_array, arrays, sizeof arrays / sizeof *arrays));
    TRY_OR_RETURN(shard_find(&rank, &with_ranks, ranks, sizeof ranks / sizeof *ranks));
    if (!in_array && !with_ranks) {
        cli_hint("start it as a job array or by mpirun or srun, or give --shard I/N");
        return cli_fail(SOTTO_EUSAGE,
                        "--shard auto: none of SLURM_ARRAY_TASK_ID, PBS_ARRAY_INDEX, SGE_TASK_ID and "
                        "OMPI_COMM_WORLD_RANK is set, so there is no part to take");
    }
    if (array.count == 0 && of == 0)
        return cli_fail(SOTTO_EUSAGE,
                        "--shard auto: PBS does not say how many tasks the array has; give --shard "
                        "auto/N, for an array from 0 to N - 1");
    rank.count = rank.count ? rank.count : 1;
    array.count = array.count ? array.count : of / rank.count;
    *shard = array.index * rank.count + rank.index;
    *shards = array.count * rank.count;
    if (of && *shards != of)
        return cli_fail(SOTTO_EUSAGE, "--shard auto/%zu: there are %zu tasks", of, *shards);
    if (*shard >= *shards)
        return cli_fail(SOTTO_EUSAGE,
                        "--shard auto/%zu: this is task %zu, counted from 0; expected an array from 0 "
                        "to %zu",
                        of, *shard, *shards - 1);
    return SOTTO_OK;
}

sotto_status shard_read(size_t *shard, size_t *shards, const struct options *o)
{
    const char *text = option_text(o, "shard");
    unsigned long i = 1, n = 0;
    char rest;
    *shard = 0;
    *shards = 1;
    if (!text)
        return SOTTO_OK;
    if (cli_shares())
        return cli_fail(SOTTO_EUSAGE,
                        "--shard: ranks of a launcher take any open task; omit it, or give --alone");
    if (strcmp(text, "auto") == 0)
        return read_auto(shard, shards, 0);
    if (sscanf(text, "auto/%lu%c", &n, &rest) == 1 && n > 0 && text[5] != '-')
        return read_auto(shard, shards, n);
    if (sscanf(text, "%lu/%lu%c", &i, &n, &rest) != 2 || i < 1 || i > n || text[0] < '0' || text[0] > '9')
        return cli_fail(SOTTO_EUSAGE, "--shard: '%s' is not a part; expected I/N such as 2/4, or auto", text);
    *shard = i - 1;
    *shards = n;
    return SOTTO_OK;
}
