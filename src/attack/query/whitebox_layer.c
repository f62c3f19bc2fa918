/* Only the last layer of a network is looked into: its gradient has a closed form in what the layer sees, and
 * it carries most of what gradients tell about membership. */
#include "attack/query/whitebox_layer.h"

sotto_status white_side_make(struct white_side *out, const struct sotto_head *head,
                             const struct sotto_network *network, const struct head_data *records,
                             const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct white_side s = {.head = head, .records = *records};
    struct network_asker asker = {0};
    if (head)
        goto done;
    TRY(network_last_layer(&s.last, network));
    s.head = s.last;
    s.records.d = s.last->width[0];
    if (!network_has_layers(network))
        goto done; /* the last layer is the whole network, and sees the records */
    TRY(network_asker_make(&asker, network, true, ctx));
    s.embedded = base_alloc(records->n * s.records.d, sizeof *s.embedded);
    if (!s.embedded)
        FAIL(SOTTO_ENOMEM, "white box: out of memory for the embeddings of %zu records", records->n);
    network_asker_run(s.embedded, &asker, records->x, records->n, NULL);
    s.records.x = s.embedded;
done:
    network_asker_clear(&asker);
    if (status == SOTTO_OK)
        *out = s;
    else
        white_side_clear(&s);
    return status;
}

void white_side_clear(struct white_side *s)
{
    sotto_head_free(s->last);
    base_free(s->embedded);
    *s = (struct white_side){0};
}
