/* One row for each part of pre-training; all are of modules. */
#define PLUG_PRETRAIN_PART ROW
#include "base/plugs.h"
