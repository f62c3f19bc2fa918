/* The exact sum of a gradient over ranks (par/tree.h: the same bits for any number of them) beside the MPI library's own
 * MPI_Allreduce, in turns, one leaf a rank. The tree's time is that of rank_sums_join() and of telling all ranks all segments,
 * which is what follows a step's last leaf. Then the same with a step of Adam: in segments, each rank moving its own, and whole,
 * each moving all by the sum that it was told. One JSON line of rank 0 for each size: medians of milliseconds, and of its
 * processor time for the steps.
 * usage: mpirun -n R bench_team [--runs 21] */
#include "stopwatch.h"

#include "nn/optimizer/optimizer.h"
#include "par/par.h"
#include "par/tree_ranks.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "sotto/private/all.h"

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
    struct nn_optimizer *segments, *whole;
    struct tensor tensor;
};

static void fill(const struct sotto_team *team, struct exact *e, size_t width)
{
    struct tree_sums *s = e->leaves;
    tree_sums_begin(s, 0);
    float *leaf = tree_sums_next(s, 0);
    for (size_t i = 0; i < width; i++)
        leaf[i] = (float)(sotto_team_rank(team) + 1);
    tree_sums_add(s, 0);
    tree_sums_join(s, 1);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Seconds of one exact sum; the sum over ranks of 1 + rank is checked. */
static double by_tree(const struct sotto_team *team, struct exact *e, float *total, size_t width)
{
    const size_t ranks = sotto_team_size(team);
    fill(team, e, width);
    const double began = wall_seconds();
    must(rank_sums_join(e->ranks, 0, 1));
    must(team_gather(team, total, sizeof *total, e->borders));
    const double took = wall_seconds() - began;
    if (2 * total[width - 1] != (float)(ranks * (ranks + 1)))
        fprintf(stderr, "bench_team: wrong sum\n"), exit(70);
    return took;
}

/* A sum and a step of Adam by it. */
struct took {
    double wall, cpu;
};
static struct took step(const struct sotto_team *team, struct exact *e, struct nn_optimizer *o)
{
    const struct tensor_list list = {&e->tensor, 1};
    fill(team, e, e->tensor.count);
    const double wall = wall_seconds(), cpu = cpu_seconds();
    must(rank_sums_join(e->ranks, 0, 1));
    if (o == e->whole)
        must(team_gather(team, e->tensor.grad, sizeof(float), e->borders));
    optimizer_step(o, &list, 1e-3);
    return (struct took){wall_seconds() - wall, cpu_seconds() - cpu};
}

static double by_library(float *sum, const float *mine, size_t width)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = wall_seconds();
    MPI_Allreduce(mine, sum, (int)width, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    return wall_seconds() - began;
}

static void make(struct exact *e, const struct sotto_team *team, float *values, float *total, size_t width)
{
    const size_t ranks = sotto_team_size(team);
    struct nn_optimizer_config adam = {.name = "adam", .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-7};
    *e = (struct exact){.tensor = {"w", values, total, width}};
    const struct tensor_list list = {&e->tensor, 1};
    must(tree_sums_create(&e->leaves, total, width, ranks, 1, team, NULL));
    if (ranks > 1)
        must(rank_sums_create(&e->ranks, total, 0, width, &(struct tree_part){0, e->leaves}, 1, ranks, team));
    tree_segments(e->borders, width, ranks);
    must(optimizer_create(&e->whole, &list, &adam));
    adam.team = team;
    must(optimizer_create(&e->segments, &list, &adam));
}

static void measure(const struct sotto_team *team, size_t width, size_t runs)
{
    static double tree[MOST], library[MOST], ratio[MOST], wall[2][MOST], cpu[2][MOST];
    float *total = calloc(width, sizeof *total), *mine = calloc(width, sizeof *mine),
          *values = calloc(width, sizeof *values);
    static struct exact e;
    if (!total || !mine || !values)
        exit(71);
    make(&e, team, values, total, width);
    for (size_t i = 0; i < runs + 2; i++) { /* two to warm up */
        const size_t at = i < 2 ? 0 : i - 2;
        tree[at] = by_tree(team, &e, total, width);
        library[at] = by_library(total, mine, width);
        ratio[at] = tree[at] / library[at];
        for (int whole = 0; whole < 2; whole++) {
            const struct took t = step(team, &e, whole ? e.whole : e.segments);
            wall[whole][at] = t.wall, cpu[whole][at] = t.cpu;
        }
    }
    if (sotto_team_rank(team) == 0)
        printf("{\"bench\": \"team\", \"ranks\": %zu, \"bytes\": %zu, \"tree_ms\": %.3f, "
               "\"allreduce_ms\": %.3f, \"ratio\": %.3f, \"step_ms\": %.3f, \"whole_step_ms\": %.3f, "
               "\"step_cpu_ms\": %.3f, \"whole_step_cpu_ms\": %.3f}\n",
               sotto_team_size(team), width * sizeof *total, 1e3 * median(tree, runs),
               1e3 * median(library, runs), median(ratio, runs), 1e3 * median(wall[0], runs),
               1e3 * median(wall[1], runs), 1e3 * median(cpu[0], runs), 1e3 * median(cpu[1], runs));
    nn_optimizer_free(e.segments);
    nn_optimizer_free(e.whole);
    rank_sums_free(e.ranks);
    tree_sums_free(e.leaves);
    free(total);
    free(values);
    free(mine);
}

int main(int argc, char **argv)
{
    struct sotto_team *team = NULL;
    size_t runs = argc == 3 && strcmp(argv[1], "--runs") == 0 ? strtoul(argv[2], NULL, 10) : 21;
    if (argc != 1 && argc != 3)
        return 64;
    must(sotto_team_open(&team, NULL));
    par_set_threads(1);
    if (sotto_team_size(team) > MOST_RANKS)
        return 64;
    for (size_t width = 16384; width <= 16777216; width *= 4) /* 64 KiB to 64 MiB */
        measure(team, width, runs > 0 && runs < MOST ? runs : 21);
    sotto_team_close(team);
    return 0;
}
