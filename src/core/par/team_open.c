/* The plug-in is loaded when it is asked for, and stays: MPI cannot be started twice in a process. */
#include "par/ranks.h"

#include "base/memory.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char file[] = "libsotto_mpi.so";

/* Of the library or program that this code is in. */
static void own_folder(char out[PATH_MAX])
{
    Dl_info own;
    out[0] = '\0';
    if (dladdr((void *)(size_t)sotto_team_open, &own) && own.dli_fname && strchr(own.dli_fname, '/'))
        snprintf(out, PATH_MAX, "%.*s", (int)(strrchr(own.dli_fname, '/') - own.dli_fname + 1),
                 own.dli_fname);
}

/* A build has the plug-in beside its program, an installation in lib/sotto. RTLD_GLOBAL: an MPI library loads parts of its own,
 * which look for it. `why`: of the first that failed. */
static void *team_open_load(const char *stated, char why[300])
{
    char own[PATH_MAX], path[2 * PATH_MAX];
    void *library = NULL;
    own_folder(own);
    const char *places[][2] = {{own, ""}, {own, "sotto/"}, {SOTTO_LIBRARY_FOLDER, "/sotto/"}};
    for (size_t i = 0; i < (stated ? 1 : 3) && !library; i++) {
        snprintf(path, sizeof path, "%s%s%s", places[i][0], places[i][1], file);
        library = dlopen(stated ? stated : path, RTLD_NOW | RTLD_GLOBAL);
        if (!library && i == 0)
            snprintf(why, 300, "%s", dlerror());
    }
    return library;
}

static sotto_status team_open_find(const struct transport **out)
{
    sotto_status status = SOTTO_OK;
    const char *stated = getenv("SOTTO_MPI_LIBRARY"), *name = stated && *stated ? stated : NULL;
    char why[300] = "";
    void *library = team_open_load(name, why);
    name = name ? name : file;
    if (!library)
        FAIL(SOTTO_ENOTSUP, "no MPI support: %s cannot be loaded: %s", name, why);
    const struct transport *t = dlsym(library, TRANSPORT_SYMBOL);
    if (!t || t->abi != TRANSPORT_ABI)
        FAIL(SOTTO_ENOTSUP, "%s is of another version of sotto; build it again with 'make mpi'", name);
    *out = t;
done:
    return status;
}

sotto_status sotto_team_open(struct sotto_team **out, const int *communicator)
{
    REQUIRE_GIVEN(out);
    sotto_status status = SOTTO_OK;
    const struct transport *transport = NULL;
    TRY(team_open_find(&transport));
    TRY(team_start(out, transport, communicator));
done:
    return status;
}
