#include "base/cpu.h"
#include "nn/conv/bf16_kernels.h"
#include "nn/conv/conv_kernels.h"
#include "nn/conv/phases_kernels.h"
#include "nn/conv/point_kernels.h"
#include "nn/conv/winograd_kernels.h"

ISA_TABLE_BF16(const struct bf16_kernels, bf16_kernels, bf16_kernels_best);
ISA_TABLE(const struct conv_kernels, conv_kernels, conv_kernels_best);
ISA_TABLE(const struct phases_kernels, phases_kernels, phases_kernels_best);
ISA_TABLE(const struct point_kernels, point_kernels, point_kernels_best);
ISA_TABLE_BF16(const struct winograd_kernels, winograd_kernels, winograd_kernels_best);
