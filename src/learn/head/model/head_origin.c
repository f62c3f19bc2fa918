/* What a reader of a head has to know about its inputs, read from the files that made them. */
#include "data/encoding/encoding.h"
#include "head/model/head_model.h"
#include "io/array/safetensors.h"
#include "io/provenance/statement.h"
#include "sotto/lab/data.h"
#include "sotto/lab/head.h"
#include "sotto/lab/release.h"

/* Encoders made elsewhere may be of any format; they carry no stamp. */
static sotto_status encoder_is_stamped(bool *none, const char *path)
{
    struct sotto_tensors t = {0};
    sotto_status status = safetensors_load(&t, path);
    *none = status == SOTTO_OK && statement_is_none(&t);
    sotto_tensors_clear(&t);
    return status == SOTTO_ENOMEM ? status : SOTTO_OK;
}

/* Of the table that made the features; one of another shape is not this head's. */
static sotto_status read_encoding(char **json, const char *features, size_t inputs, size_t classes)
{
    sotto_status status = SOTTO_OK;
    struct sotto_table_encoding *e = NULL;
    TRY(encoding_beside(&e, features));
    if (e && sotto_table_encoding_width(e) == inputs && sotto_table_encoding_classes(e) == classes)
        TRY(encoding_text(json, e));
done:
    sotto_table_encoding_free(e);
    return status;
}

sotto_status head_origin_read(struct head_origin *out, const struct sotto_head_files *files, size_t inputs,
                              size_t classes, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    if (files->encoder) {
        TRY(sha256_file_asking(out->encoder, files->encoder, ctx));
        TRY(encoder_is_stamped(&out->no_statement, files->encoder));
    }
    if (files->features) {
        TRY(read_encoding(&out->encoding, files->features, inputs, classes));
        TRY(sotto_released_inputs(&out->released, files->features, files->labels, ctx));
    }
done:
    return status;
}

void head_origin_note(struct sotto_head *h, struct head_origin *origin)
{
    if (origin->encoder[0])
        memcpy(h->encoder, origin->encoder, sizeof h->encoder);
    h->no_statement |= origin->no_statement;
    if (origin->encoding) {
        base_free(h->encoding);
        h->encoding = origin->encoding;
        origin->encoding = NULL;
    }
    h->released = origin->released;
}

void head_origin_clear(struct head_origin *origin)
{
    base_free(origin->encoding);
    *origin = (struct head_origin){0};
}

sotto_status sotto_head_note_files(struct sotto_head *h, const struct sotto_head_files *files,
                                   const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(h, files);
    sotto_status status = SOTTO_OK;
    struct head_origin origin = {.released = h->released};
    TRY(head_origin_read(&origin, files, sotto_head_inputs(h), sotto_head_classes(h), ctx));
    head_origin_note(h, &origin);
done:
    head_origin_clear(&origin);
    return status;
}

sotto_status sotto_head_set_encoder_file(struct sotto_head *h, const char *path)
{
    REQUIRE_GIVEN(h, path);
    return sotto_head_note_files(h, &(struct sotto_head_files){.encoder = path}, NULL);
}
