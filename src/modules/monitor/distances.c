#include "monitor/distances.h"

ISA_TABLE(monitor_distances, monitor_distances_of, monitor_distances_best);
