/* plugs.h - the rows of all modules for one list of plug-ins. The includer defines the macro of its kind; the other kinds are empty.
 * all_plugs.h is made by CMake from the folders of src/modules. There is no guard: each list includes this file. */
#ifndef PLUG_VERB
#define PLUG_VERB(name)
#endif
#ifndef PLUG_VERB_PART
#define PLUG_VERB_PART(name)
#endif
#ifndef PLUG_PAGE
#define PLUG_PAGE(name)
#endif
#ifndef PLUG_SECTION
#define PLUG_SECTION(name)
#endif
#ifndef PLUG_QUERY_ATTACK
#define PLUG_QUERY_ATTACK(name)
#endif
#ifndef PLUG_SCORE_ATTACK
#define PLUG_SCORE_ATTACK(name)
#endif
#ifndef PLUG_FORMAT
#define PLUG_FORMAT(name)
#endif
#ifndef PLUG_SOURCE
#define PLUG_SOURCE(name)
#endif
#ifndef PLUG_OBJECTIVE
#define PLUG_OBJECTIVE(name)
#endif
#ifndef PLUG_MODEL
#define PLUG_MODEL(name)
#endif
#ifndef PLUG_OPTIMIZER
#define PLUG_OPTIMIZER(name)
#endif
#ifndef PLUG_HEAD_TRAINER
#define PLUG_HEAD_TRAINER(name)
#endif
#ifndef PLUG_PRETRAIN_PART
#define PLUG_PRETRAIN_PART(name)
#endif

#include "modules/all_plugs.h"

#undef PLUG_VERB
#undef PLUG_VERB_PART
#undef PLUG_PAGE
#undef PLUG_SECTION
#undef PLUG_QUERY_ATTACK
#undef PLUG_SCORE_ATTACK
#undef PLUG_FORMAT
#undef PLUG_SOURCE
#undef PLUG_OBJECTIVE
#undef PLUG_MODEL
#undef PLUG_OPTIMIZER
#undef PLUG_HEAD_TRAINER
#undef PLUG_PRETRAIN_PART
