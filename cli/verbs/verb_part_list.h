/* One row for each part of a verb (options/options.h). Those of modules stand last. */
ROW(account_rule)
ROW(attack_encoder)
ROW(attack_reconstruction)
ROW(attack_poison)
#define PLUG_VERB_PART ROW
#include "base/plugs.h"
