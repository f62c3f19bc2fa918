/* One row per pre-training objective: objective_NAME.c defines `const struct objective objective_NAME`. */
ROW(rotation)
ROW(simclr)
#define PLUG_OBJECTIVE ROW
#include "base/plugs.h"
