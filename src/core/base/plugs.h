/* plugs.h - the rows of all modules for one list of plug-ins. The includer defines the macro of its kind; the other kinds are empty.
 * all_plugs.h is made by CMake from the folders of src/modules. There is no guard: each list includes this file. */
#ifndef PLUG_VERB
#define PLUG_VERB(name)
#endif
#ifndef PLUG_VERB_PART
#define PLUG_VERB_PART(name)
#endif

#include "modules/all_plugs.h"

#undef PLUG_VERB
#undef PLUG_VERB_PART
