#include "defend/defence_product.h"

defence_product defence_product_row_v2, defence_product_row_v3, defence_product_row_v4,
    defence_product_row_v4bf16;

defence_product *defence_product_best(void)
{
    static defence_product *const table[CPU_ISA_COUNT] = {defence_product_row_v2, defence_product_row_v3,
                                                          defence_product_row_v4, defence_product_row_v4bf16};
    return table[cpu_best_isa()];
}
