/* One row for each document that a report shows in a section. */
#define PLUG_SECTION ROW
#include "base/plugs.h"
