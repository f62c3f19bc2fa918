/* A launcher starts the program once for each rank. Ranks that know nothing of each other would do the same
 * work and write the same files, and each would report success; a release would be drawn, and charged,
 * several times. */
#include "options/launcher.h"
#include "options/options_private.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct launcher {
    const char *name, *size, *rank; /* environment variables; size: NULL where the launcher tells none */
} launchers[] = {
    {"Open MPI", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
    {"MPICH/PMI", "PMI_SIZE", "PMI_RANK"},
    {"Slurm", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}, /* not SLURM_NTASKS: batch scripts have it too */
    {"PMIx", NULL, "PMIX_RANK"},
};

enum { MOST_RANKS = 1 << 30, UNKNOWN = 0 };

/* NULL: not set. An empty variable is how scripts take one away. */
static const char *launcher_variable(const char *name)
{
    const char *text = name ? getenv(name) : NULL;
    return text && *text ? text : NULL;
}

/* A whole number from `least` to `most`. A variable that is not one hides how many processes there are. */
static sotto_status read_number(long *out, const char *name, long least, long most)
{
    const char *text = launcher_variable(name);
    char *end = NULL;
    long value = text && text[0] >= '0' && text[0] <= '9' ? strtol(text, &end, 10) : -1;
    if (end && !*end && least <= value && value <= most) {
        *out = value;
        return SOTTO_OK;
    }
    cli_hint("start sotto without the launcher, or give --alone to ignore the launcher's variables");
    return cli_fail(SOTTO_ENOTSUP, "environment variable %s is '%s'; expected a whole number from %ld to %ld",
                    name, text ? text : "", least, most);
}

/* Out: *size: 1 without this launcher, or with one rank of it; UNKNOWN where it does not tell. */
static sotto_status look_for(const struct launcher *l, long *rank, long *size)
{
    *size = l->size ? 1 : UNKNOWN;
    if (!launcher_variable(l->size ? l->size : l->rank))
        *size = 1;
    else if (l->size && read_number(size, l->size, 1, MOST_RANKS) != SOTTO_OK)
        return SOTTO_ENOTSUP;
    return *size == 1 ? SOTTO_OK : read_number(rank, l->rank, 0, (*size ? *size : MOST_RANKS) - 1);
}

static sotto_status launcher_refuse(const struct launched *l, const char *why)
{
    char of[32] = "", number[32] = "";
    if (l->size != UNKNOWN) {
        snprintf(of, sizeof of, " of %ld", l->size);
        snprintf(number, sizeof number, "%ld ", l->size);
    }
    const sotto_status status =
        cli_fail(SOTTO_ENOTSUP, "started as rank %ld%s (%s), but %s", l->rank, of, l->launcher, why);
    cli_hint("%s, or give --alone to run %sseparate copies on purpose",
             l->together ? "install the package sotto-mpi, or build the plug-in with 'make mpi'"
                         : "start sotto without the launcher",
             number);
    return status;
}

sotto_status launcher_check(struct launched *out, enum ranks ranks)
{
    bool single = false; /* a launcher said that this process is its only one */
    *out = (struct launched){.idle = false};
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        long rank = 0, size = 1;
        sotto_status status = look_for(&launchers[i], &rank, &size);
        if (status != SOTTO_OK)
            return status;
        single |= size == 1 && launcher_variable(launchers[i].size);
        if (size == 1 || (size == UNKNOWN && rank == 0 && single))
            continue;
        *out = (struct launched){.idle = ranks == RANK_0 && rank > 0,
                                 .together = ranks == TOGETHER,
                                 .shares = ranks == WORKERS,
                                 .launcher = launchers[i].name,
                                 .rank = rank,
                                 .size = size};
        return ranks == REFUSED ? launcher_refuse(out, "this verb cannot run on several ranks yet")
                                : SOTTO_OK;
    }
    return SOTTO_OK;
}

/* Does the verb leave something that the same command goes on from? Of heads, those of DP-SGD do. */
static bool goes_on(const struct options *o)
{
    for (size_t i = 0; i < o->rows.count; i++) {
        const char *name = o->rows.row[i].name;
        if (strcmp(name, "checkpoint") == 0 || strcmp(name, "worker") == 0)
            return true;
        if (strcmp(name, "trainer") == 0 && strcmp(o->verb->name, "head") == 0 &&
            strncmp(option_text(o, name), "dp-", 3) == 0)
            return true;
    }
    return false;
}

sotto_status launcher_time(unsigned *seconds, const struct options *o)
{
    enum { LONGEST = 400 * 86400 };
    const char *text = launcher_variable("SLURM_JOB_END_TIME");
    char *end = NULL;
    const uint64_t left = option_count(o, "time-left");
    const long long ends = text && text[0] >= '0' && text[0] <= '9' ? strtoll(text, &end, 10) : 0;
    *seconds = 0;
    if (option_given(o, "time-left") && left && (!end || *end))
        return cli_fail(
            SOTTO_EUSAGE,
            "--time-left: SLURM_JOB_END_TIME is '%s'; expected the end of a Slurm job in seconds since 1970",
            text ? text : "");
    if (!left || !end || *end || !goes_on(o))
        return SOTTO_OK;
    const double rest = (double)ends - (double)time(NULL) - (double)left;
    *seconds = rest < 1 ? 1 : rest > LONGEST ? LONGEST : (unsigned)rest;
    return SOTTO_OK;
}

long launcher_rank(void)
{
    const char *text = NULL;
    for (size_t i = 0; !text && i < sizeof launchers / sizeof *launchers; i++)
        text = launcher_variable(launchers[i].rank);
    const long rank = text ? strtol(text, NULL, 10) : 0;
    return rank > 0 ? rank : 0;
}

void launcher_wait(void)
{
    enum { WAIT = 2 };
    signal(SIGTERM, SIG_DFL);
    sleep(WAIT);
}

void launcher_name_rank(const struct launched *l, sotto_status status)
{
    char host[65] = "", text[1000];
    launcher_wait();
    if (gethostname(host, sizeof host - 1) != 0)
        snprintf(host, sizeof host, "unknown host");
    snprintf(text, sizeof text, "%s", cli_error_text());
    cli_fail(status, "rank %ld (%s): %s", l->rank, host, text);
}

sotto_status launcher_isa(int *common, const struct options *o)
{
    const char *isa = option_text(o, "isa");
    *common = isa != NULL;
    return !isa || strcmp(isa, "common") == 0 ? SOTTO_OK : cli_unknown("isa", isa, "common");
}

sotto_status launcher_join(struct sotto_team **out, const struct launched *l, const char *verb,
                           int common_isa)
{
    struct sotto_team *team = NULL;
    char why[700];
    const sotto_status opened = sotto_team_open(&team, NULL);
    if (opened != SOTTO_OK && opened != SOTTO_ENOTSUP) { /* of all ranks, so rank 0 says it */
        if (l->rank > 0)
            launcher_wait();
        return opened;
    }
    if (opened != SOTTO_OK) {
        snprintf(why, sizeof why, "this sotto has %s", sotto_error_text());
        return launcher_refuse(l, why);
    }
    const size_t size = sotto_team_size(team), rank = sotto_team_rank(team);
    if (size == 1 || (l->size != UNKNOWN && (size != (size_t)l->size || rank != (size_t)l->rank))) {
        snprintf(why, sizeof why, "for MPI it is rank %zu of %zu", rank, size);
        sotto_team_close(team);
        return launcher_refuse(l, why);
    }
    *out = team;
    TRY_OR_RETURN(sotto_team_same(team, "the verb", verb));
    return sotto_team_common_isa(team, common_isa);
}
