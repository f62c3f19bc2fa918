/* Any bytes as a list of events: refused, or an account with its ends in order. */
#include "dp/account/events.h"

#include <assert.h>
#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_as(const char *name, const uint8_t *data, size_t size)
{
    struct event_list list = {NULL, 0};
    struct sotto_account a;
    if (events_parse(&list, (const char *)data, size, name) == SOTTO_OK) {
        assert(list.count > 0);
        /* delta 0: the parser is tested here, not how long a distribution takes */
        if (sotto_account_events(&a, list.events, list.count, 0, SOTTO_SAME_ADJACENCY, NULL) == SOTTO_OK)
            assert(a.epsilon.lower >= 0 && a.epsilon.lower <= a.epsilon.upper && !isnan(a.epsilon.upper));
    }
    events_free(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_as("events.json", data, size);
    try_as("events.yaml", data, size);
    return 0;
}
