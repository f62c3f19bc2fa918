/* One row for each document with a page of its own. */
ROW(figures)
#define PLUG_PAGE ROW
#include "base/plugs.h"
