/* config_sections.h - sections of the experiment file that are members of public options structs, for those who read them. */
#ifndef RUN_CONFIG_CONFIG_SECTIONS_H
#define RUN_CONFIG_CONFIG_SECTIONS_H

#include "run/config/config_members.h"

extern const struct config_members config_pretrain, config_head;
/** Of one noise setting, protect[i]: of noise on a head; of a private training of its own, its adjacency, its canaries. */
extern const struct config_members config_protect, config_private, config_private_spend, config_canary;

#endif
