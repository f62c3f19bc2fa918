/* smoothing_plugs.h - the rows of this module in lists of plug-ins (base/plugs.h). */
PLUG_VERB_PART(predict_smooth)
PLUG_PAGE(smoothing)
