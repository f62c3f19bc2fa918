#include "nn/optimizer/optimizer.h"

#define ROW(name) extern const struct optimizer optimizer_##name;
#include "nn/optimizer/optimizer_list.h"
#undef ROW

#define ROW(name) &optimizer_##name,
const struct optimizer *const optimizer_table[] = {
#include "nn/optimizer/optimizer_list.h"
    NULL};
