#include "defend/defence_product.h"

ISA_TABLE(defence_product, defence_product_row, defence_product_best);
