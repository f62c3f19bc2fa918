/* sensitivity_file.h - the checks behind sotto_sensitivity_load(). */
#ifndef HEAD_SENSITIVITY_SENSITIVITY_FILE_H
#define HEAD_SENSITIVITY_SENSITIVITY_FILE_H

#include "sotto/head.h"
#include "sotto/lab/sensitivity.h"

struct json;

/** EFORMAT texts start with `path`. */
sotto_status sensitivity_from_json(struct sotto_sensitivity_sample *out, const struct json *doc,
                                   const char *path);

/** The proved record (without the data hash) of a checked convex recipe. */
sotto_status sensitivity_prove(struct sotto_sensitivity_sample *out, const struct sotto_head_recipe *r,
                               size_t records, size_t inputs, size_t classes);

#endif
