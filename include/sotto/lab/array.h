/* array.h - an array and bytes in memory. No promise: it may change with any version. */
#ifndef SOTTO_LAB_ARRAY_H
#define SOTTO_LAB_ARRAY_H

#include "sotto/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Frees bytes that a function of this library handed out. Accepts NULL. */
SOTTO_API void sotto_bytes_free(void *bytes);

enum sotto_dtype {
    SOTTO_U1,
    SOTTO_B1,
    SOTTO_F2,
    SOTTO_F4,
    SOTTO_F8,
    SOTTO_I4,
    SOTTO_I8,
    SOTTO_I1,
    SOTTO_I2,
    SOTTO_U2,
    SOTTO_U4,
    SOTTO_U8
};
enum { SOTTO_MAX_DIMS = 8 };

/** A row-major array (last index fastest). Initialise with {0}; free with sotto_array_clear() unless the caller filled in
 *  data by hand. */
struct sotto_array {
    enum sotto_dtype dtype;
    int ndim;
    size_t shape[SOTTO_MAX_DIMS];
    size_t count; /**< product of shape */
    void *data;
};

#ifdef __cplusplus
}
#endif
#endif
