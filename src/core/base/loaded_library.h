/* loaded_library.h - a shared library that is loaded when it is first needed, as every library that is linked costs time at every start.
 *
 *     #define CALLS(CALL) CALL(curl_easy_init) CALL(curl_easy_cleanup)
 *     static struct { CALLS(LATE_FIELD) } lib;
 *     const struct late_call calls[] = {CALLS(LATE_CALL)};
 */
#ifndef BASE_LOADED_LIBRARY_H
#define BASE_LOADED_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

struct late_call {
    const char *name;
    void *to; /* a pointer to that function */
};
#define LATE_FIELD(name) __typeof__(&name) name;
#define LATE_CALL(name) {#name, &lib.name},

/** Loads the library for good and fills in all pointers. false: it is not there, or lacks one of the functions. */
bool late_load(const char *library, const struct late_call *calls, size_t count);

#endif
