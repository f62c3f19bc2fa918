/* One row for each document that a report shows in a section. */
ROW(monitor)
#define PLUG_SECTION ROW
#include "base/plugs.h"
