/* The machine whose ranks have more threads than cores, and the line to start them with. No kernels; one thread. */
#include "support/test.h"
#include "support/simulated_ranks.h"
#include "par/crowding.h"

struct place {
    const char *host;
    uint32_t threads, installed;
    uint64_t first, last; /* CPUs: word 0 and the last word */
};

TEST(machines_with_too_few_cores_are_found)
{
    const struct {
        struct place places[4];
        size_t ranks;
        const char *text; /* NULL: none is crowded */
    } cases[] = {
        {{{"a", 4, 8, 15, 0}, {"a", 4, 8, 240, 0}}, 2, NULL},  /* bound to four cores each */
        {{{"a", 4, 8, 255, 0}, {"a", 4, 8, 255, 0}}, 2, NULL}, /* all cores for both */
        {{{"a", 1, 2, 1, 0}, {"a", 1, 2, 2, 0}}, 2, NULL},
        {{{"a", 64, 1024, 1, 0}, {"b", 64, 1024, ~0ULL, 0}},
         2,
         "64 threads of 1 rank on a have 1 core, so they wait for each other; start them with mpirun "
         "--map-by slot:PE=64 "
         "--bind-to core"},
        {{{"a", 32, 1024, ~0ULL, 0}, {"a", 96, 1024, 0, ~0ULL}}, 2, NULL},
        {{{"a", 8, 8, 0, 0}, {"a", 8, 8, 0, 0}}, 2, NULL}, /* the system does not say */
        /* Open MPI binds two ranks to a core each */
        {{{"a", 8, 16, 1, 0}, {"a", 8, 16, 2, 0}},
         2,
         "16 threads of 2 ranks on a have 2 cores, so they wait for each other; start them with mpirun "
         "--map-by "
         "slot:PE=8 --bind-to core"},
        {{{"a", 8, 8, 255, 0}, {"a", 8, 8, 255, 0}},
         2,
         "16 threads of 2 ranks on a have 8 cores, so they wait for each other; start them with mpirun "
         "--map-by "
         "slot:PE=4 --bind-to core and threads=4"},
        {{{"a", 2, 2, 3, 0}, {"b", 1, 1, 1, 0}, {"b", 1, 1, 1, 0}},
         3,
         "2 threads of 2 ranks on b have 1 core, so they wait for each other; start them with threads=1 "
         "and at "
         "most 1 rank on this machine"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rank_place places[4] = {{{0}, 0, 0, {0}}};
        struct crowd c;
        char text[CROWD_TEXT] = "";
        for (size_t r = 0; r < cases[i].ranks; r++) {
            const struct place *p = &cases[i].places[r];
            strcpy(places[r].host, p->host);
            places[r].threads = p->threads, places[r].installed = p->installed;
            places[r].cpus[0] = p->first, places[r].cpus[CPU_SET_WORDS - 1] = p->last;
        }
        if (crowd_find(&c, places, cases[i].ranks))
            crowd_text(text, &c);
        if (strcmp(text, cases[i].text ? cases[i].text : "") != 0)
            fail_msg("case %zu: '%s'", i, text);
    }
}

struct heard {
    int threads;
    size_t warnings, others;
};
struct rank {
    struct heard *heard;
    size_t number;
};

static void hear(void *user, enum sotto_log_level level, const char *text)
{
    struct rank *r = user;
    const bool mine = r->number == 0 && level == SOTTO_LOG_WARNING && strncmp(text, "train: 2", 8) == 0;
    if (mine)
        r->heard->warnings++;
    else
        r->heard->others++;
}

static const char *check(const struct sotto_team *team, void *state)
{
    struct rank r = {state, sotto_team_rank(team)};
    const struct sotto_context ctx = {.log = hear, .user = &r};
    if (crowding_check(team, "train", r.heard->threads, &ctx) != SOTTO_OK)
        return sotto_error_text();
    for (size_t k = 0; k < sotto_team_size(team); k++)
        if (strcmp(team_host_of(team, k), team_host(team)) != 0)
            return "the machine of another rank is unknown";
    return NULL;
}

TEST(rank_0_warns_once)
{
    struct heard crowded = {.threads = 1000000}, free = {.threads = 0};
    simulated_ranks(2, 0, check, &crowded);
    assert_int_equal(crowded.warnings, 1);
    assert_int_equal(crowded.others, 0);
    simulated_ranks(2, 0, check, &free);
    assert_int_equal(free.warnings + free.others, 0);
    assert_int_equal(crowding_check(NULL, "train", 1000000, NULL), SOTTO_OK);
}
