/* residual_plugs.h - the rows of this module in lists of plug-ins (base/plugs.h). */
PLUG_QUERY_ATTACK(residual_mia)
PLUG_VERB_PART(account_residual)
PLUG_VERB_PART(attack_residual_mia)
PLUG_VERB_PART(demo_sde)
