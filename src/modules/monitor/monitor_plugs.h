/* monitor_plugs.h - the rows of this module in lists of plug-ins (base/plugs.h). */
PLUG_VERB(monitor)
PLUG_VERB_PART(report_monitor)
PLUG_SECTION(monitor)
