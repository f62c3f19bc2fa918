/* One row for each document with a page of its own. */
ROW(figures)
ROW(smoothing)
#define PLUG_PAGE ROW
#include "base/plugs.h"
