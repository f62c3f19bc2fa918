/* events.h - different releases of one data set, composed. */
#ifndef DP_ACCOUNT_EVENTS_H
#define DP_ACCOUNT_EVENTS_H

#include "sotto/account.h"

#include <stdbool.h>

struct json;

/** A list read from a file, and the texts that its events point to. */
struct event_list {
    struct sotto_event *events;
    size_t count;
};
/** Sampled steps, `count` of them; else noise of a scale, or a stated guarantee. */
static inline bool event_is_run(const struct sotto_event *e)
{
    return e->noise_multiplier > 0 || e->sample_rate > 0;
}
enum { EVENTS_FILE_LIMIT = 1 << 26 };
/** Frees the list; harmless on {0}. */
void events_free(struct event_list *list);
/** From JSON text, or YAML where `name` ends in .yaml or .yml; it also stands in errors. EFORMAT, EINVAL, ENOMEM;
 * *list untouched. */
sotto_status events_parse(struct event_list *list, const char *text, size_t size, const char *name);
sotto_status events_parse_opacus(struct event_list *list, const char *text, size_t size, const char *name);
/** The file of events_parse(). ENOENT, EIO and its errors. */
sotto_status events_load(struct event_list *list, const char *path);
/** From an array that was parsed, each event with its adjacency, in the memory of an earlier list that had room for *room events; {0} and
 * 0: of none. EFORMAT, EINVAL, ENOMEM; the list has no events then. */
sotto_status events_from_json(struct event_list *list, size_t *room, const struct json *array,
                              const char *name);
/** Adds events of noise and of sampled steps as the member "events", so that they are read as the same doubles. */
void events_put(struct json **object, const struct event_list *list);

#endif
