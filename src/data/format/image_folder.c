/* Folders and archives of pictures whose folders are their classes. */
#include "data/format/image_set.h"

static sotto_status read_pictures(struct dataset *d, const struct bundle *b,
                                  const struct sotto_import_options *options, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct picture_list list = {0};
    TRY(pictures_list(&list, b));
    TRY(picture_set_read(d, b, &list, options, ctx));
done:
    pictures_clear(&list);
    return status;
}

const struct dataset_format format_image_folder = {
    .name = "image-folder",
    .layout = "pictures as split/class/*.{png,jpg}, class/*.{png,jpg}, or *.{png,jpg} without labels",
    .takes_size = true,
    .recognise = pictures_any,
    .read = read_pictures};
