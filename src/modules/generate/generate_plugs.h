/* generate_plugs.h - the rows of this module in lists of plug-ins (base/plugs.h). */
PLUG_VERB(generate)
PLUG_VERB_PART(attack_generator)
