/* white_box_known.h - the white-box attack of an attacker which knows some members of the target and some others. */
#ifndef ATTACK_QUERY_WHITE_BOX_KNOWN_H
#define ATTACK_QUERY_WHITE_BOX_KNOWN_H

#include "attack/query_attack.h"

sotto_status white_box_known(double *scores, struct query_result *result, const struct query_input *in);

#endif
