/* Folders and archives of images, one folder for each class. */
#include "data/format/image_set.h"

static sotto_status read_images(struct dataset *d, const struct bundle *b,
                                const struct sotto_import_options *options, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct image_list list = {0};
    TRY(images_list(&list, b));
    TRY(image_set_read(d, b, &list, options, ctx));
done:
    images_clear(&list);
    return status;
}

const struct dataset_format format_image_folder = {
    .name = "image-folder",
    .layout = "pictures as split/class/*.{png,jpg}, class/*.{png,jpg}, or *.{png,jpg} without labels",
    .takes_size = true,
    .drops_images = true,
    .recognise = images_any,
    .read = read_images};
