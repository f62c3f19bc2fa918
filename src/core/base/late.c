#include "base/loaded_library.h"

#include <dlfcn.h>
#include <string.h>

bool late_load(const char *library, const struct late_call *calls, size_t count)
{
    void *opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    bool whole = opened != NULL;
    for (size_t i = 0; whole && i < count; i++) {
        void *found = dlsym(opened, calls[i].name);
        memcpy(calls[i].to, &found, sizeof found);
        whole = found != NULL;
    }
    return whole;
}
