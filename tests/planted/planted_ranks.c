/* Defects of a run on several ranks, for tests/cli/mpi_bits.bats: SOTTO_PLANTED names one (tests/planted/planted.c).
 *
 * rank-sums: each rank adds up its own leaves, and the ranks' sums are added in the order of ranks, as a sum over all ranks
 * (MPI_Allreduce, DDP) would. rank-noise: random numbers are drawn by a leaf's place among those of its rank, not of the step.
 * rank-segments: segments of an optimizer begin 16 elements before those of the sums.
 *
 * rank-counts, for tests/cli/mpi_neighbours.bats: a rank tells how many of its records were not clipped, as a line of a log might. */
#include "nn/loop/example_sums.h"
#include "nn/plan/plan.h"
#include "par/tree_ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool planted(const char *defect)
{
    const char *name = getenv("SOTTO_PLANTED");
    return name && strcmp(name, defect) == 0;
}

enum { SUMS = 64 };
static struct {
    const struct tree_sums *sums;
    const struct sotto_team *team;
    float *total;
    size_t width;
} made[SUMS];
static size_t made_count, first_leaf;

sotto_status __real_tree_sums_create(struct tree_sums **out, float *total, size_t width, size_t leaves,
                                     size_t workers, const struct sotto_team *team, struct arena *room);
sotto_status __wrap_tree_sums_create(struct tree_sums **out, float *total, size_t width, size_t leaves,
                                     size_t workers, const struct sotto_team *team, struct arena *room)
{
    const size_t rank = sotto_team_rank(team), ranks = sotto_team_size(team);
    first_leaf = tree_first(rank, ranks, leaves);
    if (!planted("rank-sums") || ranks == 1 || made_count == SUMS)
        return __real_tree_sums_create(out, total, width, leaves, workers, team, room);
    const size_t own = tree_first(rank + 1, ranks, leaves) - first_leaf;
    const sotto_status status = __real_tree_sums_create(out, total, width, own, workers, NULL, room);
    made[made_count].sums = status == SOTTO_OK ? *out : NULL;
    made[made_count].team = team;
    made[made_count].total = total;
    made[made_count++].width = width;
    return status;
}

static sotto_status add_ranks(const struct sotto_team *team, float *total, size_t width)
{
    sotto_status status = SOTTO_OK;
    const size_t ranks = sotto_team_size(team);
    float *all = NULL;
    size_t *firsts = NULL;
    NEW_ROWS(all, ranks, width);
    NEW(firsts, ranks + 1);
    for (size_t r = 0; r <= ranks; r++)
        firsts[r] = r;
    memcpy(all + sotto_team_rank(team) * width, total, width * sizeof *total);
    TRY(team_gather(team, all, width * sizeof *all, firsts));
    for (size_t i = 0; i < width; i++) {
        total[i] = all[i];
        for (size_t r = 1; r < ranks; r++)
            total[i] += all[r * width + i];
    }
done:
    base_free(all);
    base_free(firsts);
    return status;
}

/* A failure of the transport is that of the next agreement. */
void __real_tree_sums_join(struct tree_sums *s, int threads);
void __wrap_tree_sums_join(struct tree_sums *s, int threads)
{
    __real_tree_sums_join(s, threads);
    for (size_t i = 0; i < made_count; i++)
        if (made[i].sums == s && add_ranks(made[i].team, made[i].total, made[i].width) != SOTTO_OK)
            return;
}

sotto_status __real_rank_sums_join(struct rank_sums *s, size_t from, int threads);
sotto_status __wrap_rank_sums_join(struct rank_sums *s, size_t from, int threads)
{
    return planted("rank-sums") ? SOTTO_OK : __real_rank_sums_join(s, from, threads);
}

void __real_tree_segments(size_t *borders, size_t width, size_t ranks);
void __wrap_tree_segments(size_t *borders, size_t width, size_t ranks)
{
    __real_tree_segments(borders, width, ranks);
    for (size_t r = 1; planted("rank-segments") && r < ranks; r++)
        borders[r] -= borders[r] ? 16 : 0;
}

void __real_plan_bind(struct nn_plan *p, struct arena *keep, const struct pass *pass);
void __wrap_plan_bind(struct nn_plan *p, struct arena *keep, const struct pass *pass)
{
    struct pass own = *pass;
    if (planted("rank-noise") &&
        own.leaf >= first_leaf) /* not the fixed leaf that shows what kernels compute */
        own.leaf -= first_leaf;
    __real_plan_bind(p, keep, &own);
}

sotto_status __real_example_sums_take(double *sum, struct example_counts *counts, struct example_sums *s,
                                      const uint32_t *slot, size_t n, const struct nn_clip *clip,
                                      uint64_t step);
sotto_status __wrap_example_sums_take(double *sum, struct example_counts *counts, struct example_sums *s,
                                      const uint32_t *slot, size_t n, const struct nn_clip *clip,
                                      uint64_t step)
{
    const sotto_status status = __real_example_sums_take(sum, counts, s, slot, n, clip, step);
    if (status == SOTTO_OK && planted("rank-counts") && step == 0)
        fprintf(stderr, "%zu records below the norm\n", counts->below);
    return status;
}
