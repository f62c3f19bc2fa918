/* ask_plugs.h - the rows of this module in lists of plug-ins (base/plugs.h). */
PLUG_VERB(ask)
