/* A launcher may bind each rank to cores of its own or let all have all, so the cores of a machine's ranks are counted as the union
 * of what each may use. */
#include "par/crowding.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

static bool same_machine(const struct rank_place *a, const struct rank_place *b)
{
    return strcmp(a->host, b->host) == 0;
}

/* All ranks on the machine of this one. */
static struct crowd count_machine(const struct rank_place *places, size_t ranks, size_t rank)
{
    struct crowd c = {.host = places[rank].host, .installed = places[rank].installed};
    uint64_t all[CPU_SET_WORDS] = {0};
    for (size_t r = 0; r < ranks; r++)
        if (same_machine(&places[r], &places[rank])) {
            c.ranks++;
            c.threads += places[r].threads;
            for (size_t w = 0; w < CPU_SET_WORDS; w++)
                all[w] |= places[r].cpus[w];
        }
    for (size_t w = 0; w < CPU_SET_WORDS; w++)
        c.cores += (size_t)__builtin_popcountll(all[w]);
    return c;
}

bool crowd_find(struct crowd *out, const struct rank_place *places, size_t ranks)
{
    for (size_t r = 0; r < ranks; r++) {
        const struct crowd c = count_machine(places, ranks, r);
        if (c.cores && c.threads > c.cores) {
            *out = c;
            return true;
        }
    }
    return false;
}

/* Threads for a rank such that all have a core, of the machine's and not only of those that the launcher gave. */
void crowd_text(char out[CROWD_TEXT], const struct crowd *c)
{
    const size_t wanted = (c->threads + c->ranks - 1) / c->ranks, room = c->installed / c->ranks,
                 each = room < wanted ? room : wanted;
    const int used =
        snprintf(out, CROWD_TEXT,
                 "%zu threads of %zu %s on %.63s have %zu %s, so they wait for each other; start them with ",
                 c->threads, c->ranks, c->ranks == 1 ? "rank" : "ranks", c->host, c->cores,
                 c->cores == 1 ? "core" : "cores");
    char *rest = out + used;
    const size_t left = CROWD_TEXT - (size_t)used;
    if (!each)
        status_format(rest, left, "{threads=1} and at most %zu %s on this machine", c->installed,
                      c->installed == 1 ? "rank" : "ranks");
    else if (each < wanted)
        status_format(rest, left, "mpirun --map-by slot:PE=%zu --bind-to core and {threads=%zu}", each, each);
    else
        snprintf(rest, left, "mpirun --map-by slot:PE=%zu --bind-to core", each);
}

static void crowding_describe(struct rank_place *p, const struct sotto_team *t, int threads)
{
    snprintf(p->host, sizeof p->host, "%s", team_host(t));
    p->threads = (uint32_t)threads;
    p->installed = (uint32_t)cpu_installed();
    memcpy(p->cpus, team_cpus(t), sizeof p->cpus);
}

sotto_status crowding_check(const struct sotto_team *t, const char *stage, int threads,
                            const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const size_t ranks = sotto_team_size(t);
    struct rank_place mine = {0}, *places = NULL;
    struct crowd crowd;
    char text[CROWD_TEXT];
    if (ranks < 2)
        goto done;
    crowding_describe(&mine, t, threads);
    TRY(team_gather_each(t, &places, &mine, sizeof mine));
    for (size_t r = 0; r < ranks; r++)
        team_know_host(t, r, places[r].host);
    if (sotto_team_rank(t) == 0 && crowd_find(&crowd, places, ranks)) {
        crowd_text(text, &crowd);
        context_log(ctx, SOTTO_LOG_WARNING, "%s: %s", stage, text);
    }
done:
    base_free(places);
    return status;
}
