#include "base/cpu.h"
#include "head/kernel/convex_kernels.h"
#include "head/kernel/head_clip.h"
#include "head/kernel/head_kernels.h"
#include "head/kernel/head_lanes.h"
#include "head/kernel/head_linear.h"
#include "head/kernel/head_noisy.h"

ISA_TABLE(const struct head_kernels, head_kernels, head_kernels_find);
ISA_TABLE(const struct head_lane_kernels, head_lane_kernels, head_lane_kernels_find);
ISA_TABLE(const struct convex_kernels, convex_kernels, convex_kernels_find);
ISA_TABLE(const struct clip_kernels, clip_kernels, head_clip_kernels_find);
ISA_TABLE(const struct linear_kernels, linear_kernels, head_linear_kernels_find);
ISA_TABLE(const struct noisy_kernels, noisy_kernels, head_noisy_kernels_find);
