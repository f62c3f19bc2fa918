/* libyaml's emitter decides about quoting; we only feed it events. Its output goes into a block that grows by
 * doubling. */
#include "io/yaml/yaml_tree.h"

#include <string.h>
#include <yaml.h>

struct text_block {
    char *text;
    size_t used, capacity;
};

static int write_bytes(void *user, unsigned char *bytes, size_t size)
{
    struct text_block *b = user;
    size_t needed;
    if (!size_add(&needed, b->used, size) || !size_add(&needed, needed, 1))
        return 0;
    if (needed > b->capacity) {
        size_t wanted = needed < SIZE_MAX / 2 ? 2 * needed : needed;
        char *grown = base_regrow(b->text, b->capacity, wanted, 1);
        if (!grown)
            return 0;
        b->text = grown;
        b->capacity = wanted;
    }
    memcpy(b->text + b->used, bytes, size);
    b->used += size;
    return 1;
}

/* A list of scalars reads best on one line. */
static bool is_leaf_list(const struct yaml_node *node)
{
    for (const struct yaml_node *child = node->first; child; child = child->next)
        if (child->kind != YAML_KIND_SCALAR)
            return false;
    return true;
}

static bool emit_text(yaml_emitter_t *emitter, const char *text, bool quoted)
{
    yaml_event_t event;
    return yaml_scalar_event_initialize(&event, NULL, NULL, (const unsigned char *)text, (int)strlen(text), 1,
                                        1,
                                        quoted ? YAML_SINGLE_QUOTED_SCALAR_STYLE : YAML_PLAIN_SCALAR_STYLE) &&
           yaml_emitter_emit(emitter, &event);
}

static bool emit_node(yaml_emitter_t *emitter, const struct yaml_node *node)
{
    yaml_event_t event;
    if (node->kind == YAML_KIND_SCALAR)
        return emit_text(emitter, node->text, node->quoted);
    bool mapping = node->kind == YAML_KIND_MAPPING;
    int made = mapping ? yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE)
                       : yaml_sequence_start_event_initialize(&event, NULL, NULL, 1,
                                                              is_leaf_list(node) ? YAML_FLOW_SEQUENCE_STYLE
                                                                                 : YAML_BLOCK_SEQUENCE_STYLE);
    if (!made || !yaml_emitter_emit(emitter, &event))
        return false;
    for (const struct yaml_node *child = node->first; child; child = child->next)
        if ((mapping && !emit_text(emitter, child->key, false)) || !emit_node(emitter, child))
            return false;
    made = mapping ? yaml_mapping_end_event_initialize(&event) : yaml_sequence_end_event_initialize(&event);
    return made && yaml_emitter_emit(emitter, &event);
}

static bool emit_document(yaml_emitter_t *emitter, const struct yaml_node *node)
{
    yaml_event_t event;
    return yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING) &&
           yaml_emitter_emit(emitter, &event) &&
           yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1) &&
           yaml_emitter_emit(emitter, &event) && emit_node(emitter, node) &&
           yaml_document_end_event_initialize(&event, 1) && yaml_emitter_emit(emitter, &event) &&
           yaml_stream_end_event_initialize(&event) && yaml_emitter_emit(emitter, &event) &&
           yaml_emitter_flush(emitter);
}

sotto_status yaml_dump(char **text, const struct yaml_node *node)
{
    sotto_status status = SOTTO_OK;
    yaml_emitter_t emitter;
    struct text_block block = {0};
    if (!yaml_emitter_initialize(&emitter))
        return status_fail(SOTTO_ENOMEM, "YAML text: out of memory");
    yaml_emitter_set_output(&emitter, write_bytes, &block);
    yaml_emitter_set_unicode(&emitter, 1);
    yaml_emitter_set_width(&emitter, -1);
    if (!emit_document(&emitter, node) || !write_bytes(&block, (unsigned char *)"", 1))
        FAIL(emitter.error == YAML_EMITTER_ERROR ? SOTTO_EINTERNAL : SOTTO_ENOMEM, "YAML text: %s",
             emitter.error == YAML_EMITTER_ERROR ? emitter.problem : "out of memory");
    *text = block.text;
    block.text = NULL;
done:
    base_free(block.text);
    yaml_emitter_delete(&emitter);
    return status;
}
