/* UTKFace: faces, with age, gender and race in file names: age_gender_race_timestamp.jpg, or .jpg.chip.jpg
 * of the aligned ones. A few published names lack a field; those images are left out. */
#include "data/format/image_facts.h"
#include "base/choice.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { OLDEST = 116 };

static bool utkface_field(unsigned *out, const char **at, unsigned most)
{
    unsigned value = 0, digits = 0;
    for (; isdigit((unsigned char)**at) && digits < 4; ++*at, digits++)
        value = 10 * value + (unsigned)(**at - '0');
    if (digits == 0 || value > most || **at != '_')
        return false;
    ++*at;
    *out = value;
    return true;
}

bool utkface_parse(struct utkface_name *out, const char *base)
{
    struct utkface_name name;
    size_t digits = 0;
    if (!utkface_field(&name.age, &base, OLDEST) || !utkface_field(&name.gender, &base, 1) ||
        !utkface_field(&name.race, &base, 4))
        return false;
    while (isdigit((unsigned char)base[digits]))
        digits++;
    if (digits == 0 || base[digits] != '.' || !is_image(base))
        return false;
    *out = name;
    return true;
}

static bool utkface_recognise(const struct bundle *b)
{
    size_t images = 0, named = 0;
    struct utkface_name name;
    for (size_t i = 0; i < b->count; i++) {
        images += is_image(b->entries[i].name);
        named += utkface_parse(&name, path_base(b->entries[i].name));
    }
    return named > 0 && 2 * named > images;
}

static const char *const genders[] = {"male", "female", NULL};
static const char *const races[] = {"White", "Black", "Asian", "Indian", "other", NULL};

/* One of the three, as text. */
static sotto_status utkface_choose(char out[16], const char *const **names, const struct utkface_name *n,
                                   const char *column)
{
    *names = NULL;
    unsigned value = n->age;
    if (strcmp(column, "gender") == 0) {
        value = n->gender;
        *names = genders;
    } else if (strcmp(column, "race") == 0) {
        value = n->race;
        *names = races;
    } else if (strcmp(column, "age") != 0) {
        return choice_unknown(SOTTO_EINVAL, "UTKFace: label", column, "gender, race or age");
    }
    snprintf(out, 16, "%u", value);
    return SOTTO_OK;
}

static sotto_status read_faces(struct dataset *d, const struct bundle *b,
                               const struct sotto_import_options *options, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct image_facts facts = {0};
    const char *label = options->label ? options->label : "gender";
    const char *attribute = options->attribute ? options->attribute : "race";
    for (size_t i = 0; i < b->count; i++) {
        const char *path = b->entries[i].name;
        struct utkface_name name;
        char texts[2][16];
        if (!utkface_parse(&name, path_base(path)))
            continue;
        TRY(utkface_choose(texts[0], &facts.label_names, &name, label));
        TRY(utkface_choose(texts[1], &facts.value_names, &name, attribute));
        TRY(image_facts_add(&facts, path, strlen(path), 0, texts[0], texts[1]));
    }
    snprintf(facts.attribute_name, sizeof facts.attribute_name, "%s", attribute);
    TRY(image_facts_read(d, &facts, b, options, ctx));
done:
    image_facts_clear(&facts);
    return status;
}

const struct dataset_format format_utkface = {
    .name = "utkface",
    .layout =
        "pictures named age_gender_race_time.jpg: label gender, attribute race (label, attribute choose)",
    .takes_size = true,
    .takes_label = true,
    .takes_attribute = true,
    .recognise = utkface_recognise,
    .read = read_faces};
