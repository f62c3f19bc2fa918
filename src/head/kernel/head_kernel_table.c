#include "head/kernel/convex_kernels.h"
#include "head/kernel/head_clip.h"
#include "head/kernel/head_kernels.h"
#include "head/kernel/head_lanes.h"
#include "head/kernel/head_linear.h"
#include "head/kernel/head_noisy.h"

extern const struct head_kernels head_kernels_v2, head_kernels_v3, head_kernels_v4, head_kernels_v4bf16;

const struct head_kernels *head_kernels_find(enum cpu_isa *isa)
{
    static const struct head_kernels *const tables[CPU_ISA_COUNT] = {&head_kernels_v2, &head_kernels_v3,
                                                                     &head_kernels_v4, &head_kernels_v4bf16};
    *isa = cpu_best_isa();
    return tables[*isa];
}

extern const struct head_lane_kernels head_lane_kernels_v2, head_lane_kernels_v3, head_lane_kernels_v4,
    head_lane_kernels_v4bf16;

const struct head_lane_kernels *head_lane_kernels_find(enum cpu_isa *isa)
{
    static const struct head_lane_kernels *const tables[CPU_ISA_COUNT] = {
        &head_lane_kernels_v2, &head_lane_kernels_v3, &head_lane_kernels_v4, &head_lane_kernels_v4bf16};
    *isa = cpu_best_isa();
    return tables[*isa];
}

extern const struct convex_kernels convex_kernels_v2, convex_kernels_v3, convex_kernels_v4,
    convex_kernels_v4bf16;

const struct convex_kernels *convex_kernels_find(enum cpu_isa *isa)
{
    static const struct convex_kernels *const tables[CPU_ISA_COUNT] = {
        &convex_kernels_v2, &convex_kernels_v3, &convex_kernels_v4, &convex_kernels_v4bf16};
    *isa = cpu_best_isa();
    return tables[*isa];
}

extern const struct clip_kernels clip_kernels_v2, clip_kernels_v3, clip_kernels_v4, clip_kernels_v4bf16;

const struct clip_kernels *head_clip_kernels_find(void)
{
    static const struct clip_kernels *const tables[CPU_ISA_COUNT] = {&clip_kernels_v2, &clip_kernels_v3,
                                                                     &clip_kernels_v4, &clip_kernels_v4bf16};
    return tables[cpu_best_isa()];
}

extern const struct linear_kernels linear_kernels_v2, linear_kernels_v3, linear_kernels_v4,
    linear_kernels_v4bf16;

const struct linear_kernels *head_linear_kernels_find(void)
{
    static const struct linear_kernels *const tables[CPU_ISA_COUNT] = {
        &linear_kernels_v2, &linear_kernels_v3, &linear_kernels_v4, &linear_kernels_v4bf16};
    return tables[cpu_best_isa()];
}

extern const struct noisy_kernels noisy_kernels_v2, noisy_kernels_v3, noisy_kernels_v4, noisy_kernels_v4bf16;

const struct noisy_kernels *head_noisy_kernels_find(void)
{
    static const struct noisy_kernels *const tables[CPU_ISA_COUNT] = {
        &noisy_kernels_v2, &noisy_kernels_v3, &noisy_kernels_v4, &noisy_kernels_v4bf16};
    return tables[cpu_best_isa()];
}
