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

/* RTLD_GLOBAL: an MPI library loads parts of its own, which look for it. */
static void *load(const char *folder, const char *name)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s%s", folder, name);
    return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

static sotto_status find(const struct transport **out)
{
    sotto_status status = SOTTO_OK;
    const char *stated = getenv("SOTTO_MPI_LIBRARY"), *name = stated && *stated ? stated : file;
    char folder[PATH_MAX], why[300];
    own_folder(folder);
    void *library = load(name == file ? folder : "", name);
    snprintf(why, sizeof why, "%s", library ? "" : dlerror());
    if (!library && name == file)
        library = load(SOTTO_LIBRARY_FOLDER "/", name);
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
    sotto_status status = SOTTO_OK;
    const struct transport *transport = NULL;
    TRY(find(&transport));
    TRY(team_start(out, transport, communicator));
done:
    return status;
}
