/* attacker.h - commands of a rule that the attacker runs himself, and not the program. */
#ifndef SELFTEST_ATTACKER_H
#define SELFTEST_ATTACKER_H

#include "base/status.h"

#include <stdbool.h>

/** Whether the line is one of them:
 *  "forge FILE OTHER"  OTHER's bytes in place of FILE, with their hash in FILE's certificate;
 *  "fork"              a process reserves a step and forks, and its child takes the step: code 0, or 65 if it is refused. */
bool attacker_runs(const char *line);
/** Runs it in `folder`. EIO, ENOMEM, ENOENT. */
sotto_status attacker_run(int *code, const char *line, const char *folder);

#endif
