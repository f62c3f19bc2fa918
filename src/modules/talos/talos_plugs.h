/* talos_plugs.h - the rows of this module in lists of plug-ins (base/plugs.h). */
PLUG_PRETRAIN_PART(talos)
PLUG_VERB_PART(pretrain_talos)
