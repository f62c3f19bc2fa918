/* The tables of this folder: each file NAME.isa.c has one for every instruction set. */
#include "base/cpu.h"
#include "nn/kernel/depthwise_kernels.h"
#include "nn/kernel/depthwise_rows.h"
#include "nn/kernel/example_kernels.h"
#include "nn/kernel/kernels.h"
#include "nn/kernel/loss_kernels.h"
#include "nn/kernel/norm_kernels.h"
#include "nn/kernel/row_kernels.h"

ISA_TABLE_BF16(const struct depthwise_kernels, depthwise_kernels, depthwise_kernels_best);
ISA_TABLE_BF16(const struct depthwise_rows, depthwise_rows, depthwise_rows_best);
ISA_TABLE(const struct example_kernels, example_kernels, example_kernels_best);
ISA_TABLE(const struct loss_kernels, loss_kernels, loss_kernels_best);
ISA_TABLE_BF16(const struct norm_kernels, norm_kernels, norm_kernels_best);
ISA_TABLE(const struct row_kernels, row_kernels, row_kernels_best);
ISA_TABLE_BF16(const struct kernels, pointwise_kernels, kernels_best);
