/* sensitivity_file.h - the checks behind sotto_sensitivity_load(). */
#ifndef HEAD_SENSITIVITY_FILE_H
#define HEAD_SENSITIVITY_FILE_H

#include "io/json.h"
#include "sotto/head.h"

/** EFORMAT texts start with `path`. */
sotto_status sensitivity_from_json(struct sotto_sensitivity_sample *out, const struct json *doc,
                                   const char *path);

#endif
