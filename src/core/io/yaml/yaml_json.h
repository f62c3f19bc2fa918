/* yaml_json.h - a YAML document as JSON. */
#ifndef IO_YAML_YAML_JSON_H
#define IO_YAML_YAML_JSON_H

#include "io/json/json.h"

/** Within the limits of yaml_parse(). What is not quoted is a number, true, false or null where it reads as
 * one, else a text. EFORMAT "name:LINE:COLUMN: what", also for an empty document; ENOMEM. */
sotto_status json_from_yaml(struct json **out, const char *text, size_t size, const char *name);

#endif
