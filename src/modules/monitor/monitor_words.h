/* monitor_words.h - what a monitor's alarms mean, in the words that every output uses. */
#ifndef MONITOR_MONITOR_WORDS_H
#define MONITOR_MONITOR_WORDS_H

#include "sotto/lab/monitor.h"

enum { MONITOR_WORDS = 512 };

/* What is proved. Returns out. */
const char *monitor_guarantee(char out[MONITOR_WORDS], const struct sotto_monitor_result *r);
/* What no detector finds. */
const char *monitor_limit(void);
/* What was not checked, or checked. */
const char *monitor_condition(const struct sotto_monitor_result *r);
/** "near", "off", "margin". */
const char *monitor_statistic_name(enum sotto_monitor_statistic s);

#endif
