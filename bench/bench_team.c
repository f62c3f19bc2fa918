/* The exact sum of a gradient over ranks (par/tree.h: the same bits for any number of them) beside the MPI library's own
 * MPI_Allreduce, in turns, one leaf a rank. The tree's time is that of rank_sums_join() and of telling all ranks all segments,
 * which is what follows a step's last leaf. One JSON line of rank 0 for each size: medians of wall milliseconds.
 * usage: mpirun -n R bench_team [--runs 21] */
#include "stopwatch.h"

#include "par/tree_ranks.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "sotto/sotto.h"

enum { MOST = 1001, MOST_RANKS = 1024 };

static void must(sotto_status status)
{
    if (status == SOTTO_OK)
        return;
    fprintf(stderr, "bench_team: %s\n", sotto_error_text());
    exit(70);
}

struct exact {
    struct tree_sums *leaves;
    struct rank_sums *ranks;
    size_t borders[MOST_RANKS + 1];
};

/* Seconds of one exact sum; the sum over ranks of 1 + rank is checked. */
static double by_tree(const struct sotto_team *team, struct exact *e, float *total, size_t width)
{
    const size_t rank = sotto_team_rank(team), ranks = sotto_team_size(team);
    struct tree_sums *s = e->leaves;
    tree_sums_begin(s, 0);
    float *leaf = tree_sums_next(s, 0);
    for (size_t i = 0; i < width; i++)
        leaf[i] = (float)(rank + 1);
    tree_sums_add(s, 0);
    tree_sums_join(s, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = wall_seconds();
    must(rank_sums_join(e->ranks, 0, 1));
    must(team_gather(team, total, sizeof *total, e->borders));
    const double took = wall_seconds() - began;
    if (2 * total[width - 1] != (float)(ranks * (ranks + 1)))
        fprintf(stderr, "bench_team: wrong sum\n"), exit(70);
    return took;
}

static double by_library(float *sum, const float *mine, size_t width)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = wall_seconds();
    MPI_Allreduce(mine, sum, (int)width, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    return wall_seconds() - began;
}

static void measure(const struct sotto_team *team, size_t width, size_t runs)
{
    static double tree[MOST], library[MOST], ratio[MOST];
    float *total = calloc(width, sizeof *total), *mine = calloc(width, sizeof *mine);
    const size_t ranks = sotto_team_size(team);
    struct exact e = {NULL};
    if (!total || !mine)
        exit(71);
    must(tree_sums_create(&e.leaves, total, width, ranks, 1, team));
    if (ranks > 1)
        must(rank_sums_create(&e.ranks, total, 0, width, &(struct tree_part){0, e.leaves}, 1, ranks, team));
    tree_segments(e.borders, width, ranks);
    for (size_t i = 0; i < runs + 2; i++) { /* two to warm up */
        const size_t at = i < 2 ? 0 : i - 2;
        tree[at] = by_tree(team, &e, total, width);
        library[at] = by_library(total, mine, width);
        ratio[at] = tree[at] / library[at];
    }
    if (sotto_team_rank(team) == 0)
        printf("{\"bench\": \"team\", \"ranks\": %zu, \"bytes\": %zu, \"tree_ms\": %.3f, \"allreduce_ms\": "
               "%.3f, "
               "\"ratio\": %.3f}\n",
               sotto_team_size(team), width * sizeof *total, 1e3 * median(tree, runs),
               1e3 * median(library, runs), median(ratio, runs));
    rank_sums_free(e.ranks);
    tree_sums_free(e.leaves);
    free(total);
    free(mine);
}

int main(int argc, char **argv)
{
    struct sotto_team *team = NULL;
    size_t runs = argc == 3 && strcmp(argv[1], "--runs") == 0 ? strtoul(argv[2], NULL, 10) : 21;
    if (argc != 1 && argc != 3)
        return 64;
    must(sotto_team_open(&team, NULL));
    if (sotto_team_size(team) > MOST_RANKS)
        return 64;
    for (size_t width = 16384; width <= 16777216; width *= 4) /* 64 KiB to 64 MiB */
        measure(team, width, runs > 0 && runs < MOST ? runs : 21);
    sotto_team_close(team);
    return 0;
}
