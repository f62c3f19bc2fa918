/* Only the last layer of a network is looked into: its gradient has a closed form in what the layer sees, and
 * it carries most of what gradients tell about membership. */
#include "attack/query/whitebox_layer.h"

sotto_status whitebox_layer_make(struct whitebox_layer *out, const struct sotto_head *head,
                                 const struct sotto_network *network, const struct head_data *records,
                                 const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct whitebox_layer s = {.head = head, .records = *records};
    struct network_query query = {0};
    if (head)
        goto done;
    TRY(network_last_layer(&s.last, network));
    s.head = s.last;
    s.records.d = s.last->width[0];
    if (!network_has_layers(network))
        goto done; /* the last layer is the whole network, and sees the records */
    TRY(network_query_make(&query, network, true, ctx));
    NEW(s.embedded, records->n * s.records.d);
    TRY(network_query_run(s.embedded, &query, records->x, records->n, NULL, ctx));
    s.records.x = s.embedded;
done:
    network_query_clear(&query);
    if (status == SOTTO_OK)
        *out = s;
    else
        whitebox_layer_clear(&s);
    return status;
}

void whitebox_layer_clear(struct whitebox_layer *s)
{
    sotto_head_free(s->last);
    base_free(s->embedded);
    *s = (struct whitebox_layer){0};
}
