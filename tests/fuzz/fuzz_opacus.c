/* Any bytes as the state of an Opacus accountant: refused, or steps that the account takes. */
#include "dp/account/events.h"

#include <assert.h>
#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct event_list list = {NULL, 0};
    struct sotto_account a;
    if (events_parse_opacus(&list, (const char *)data, size, "history.json") == SOTTO_OK) {
        for (size_t i = 0; i < list.count; i++) {
            const struct sotto_event *e = &list.events[i];
            assert(e->noise_multiplier > 0 && e->sample_rate > 0 && e->sample_rate <= 1 && e->count >= 1);
            assert(e->adjacency == SOTTO_ADD_REMOVE);
        }
        if (sotto_account_events(&a, list.events, list.count, 0, SOTTO_ADD_REMOVE, NULL) == SOTTO_OK)
            assert(a.epsilon.lower >= 0 && !isnan(a.epsilon.upper));
    }
    events_free(&list);
    return 0;
}
