ROW(adam)
ROW(sgd)
#define PLUG_OPTIMIZER ROW
#include "base/plugs.h"
