/* CelebA: list_attr_celeba.txt beside the images: a line with their number, a line with 40 names, then for
 * each image its name and 40 times 1 or -1; perhaps list_eval_partition.txt, a name and 0, 1 or 2 a line. */
#include "data/format/image_facts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 64, MOST_JOINED = 4 };

/* One line, cut into words at blanks. */
struct line {
    size_t number, words;
    struct word {
        const char *text;
        size_t length;
    } word[MOST_COLUMNS + 2];
};
struct reader {
    const char *at, *end, *name;
    size_t lines;
};

/* False at the end. Empty lines are skipped; further words are counted, not kept. */
static bool next_line(struct line *l, struct reader *r)
{
    l->words = 0;
    while (r->at < r->end && l->words == 0) {
        l->number = ++r->lines;
        while (r->at < r->end && *r->at != '\n') {
            const char *first = r->at;
            while (r->at < r->end && !isspace((unsigned char)*r->at))
                r->at++;
            if (r->at > first && l->words < MOST_COLUMNS + 2)
                l->word[l->words] = (struct word){first, (size_t)(r->at - first)};
            l->words += r->at > first;
            while (r->at < r->end && *r->at != '\n' && isspace((unsigned char)*r->at))
                r->at++;
        }
        r->at += r->at < r->end;
    }
    return l->words > 0;
}

static bool is_word(const struct word *w, const char *text, size_t length)
{
    return w->length == length && memcmp(w->text, text, length) == 0;
}

/* The columns behind "Attractive+Smiling". */
struct columns {
    size_t count, column[MOST_JOINED];
};

static sotto_status find_columns(struct columns *out, const struct line *header, const char *asked,
                                 const char *name)
{
    sotto_status status = SOTTO_OK;
    out->count = 0;
    for (const char *at = asked; at; at = strchr(at, '+') ? strchr(at, '+') + 1 : NULL) {
        size_t length = strcspn(at, "+"), i = 0;
        while (i < header->words && !is_word(&header->word[i], at, length))
            i++;
        if (i == header->words)
            FAIL(SOTTO_EINVAL, "%s has no column '%.*s'", name, (int)(length < 40 ? length : 40), at);
        if (out->count == MOST_JOINED)
            FAIL(SOTTO_EINVAL, "%s: '%.100s' joins more than %d columns", name, asked, MOST_JOINED);
        out->column[out->count++] = i;
    }
done:
    return status;
}

/* The number that the columns' signs make, the first counting most. */
static sotto_status number_of(char out[16], const struct line *l, const struct columns *c, const char *name)
{
    unsigned value = 0;
    for (size_t i = 0; i < c->count; i++) {
        const struct word *w = &l->word[1 + c->column[i]];
        bool yes = is_word(w, "1", 1);
        if (!yes && !is_word(w, "-1", 2))
            return status_fail(SOTTO_EFORMAT, "%s:%zu: '%.*s'; expected 1 or -1", name, l->number,
                               (int)(w->length < 40 ? w->length : 40), w->text);
        value = 2 * value + yes;
    }
    snprintf(out, 16, "%u", value);
    return SOTTO_OK;
}

/* "Attractive, not Smiling" for 2 of two columns. */
static void celeba_describe(char out[PICTURE_TEXT], unsigned value, const char *asked)
{
    size_t used = 0, count = 1;
    for (const char *c = asked; *c; c++)
        count += *c == '+';
    for (const char *at = asked; count > 0 && used < PICTURE_TEXT; at += strcspn(at, "+") + 1) {
        count--;
        int length = (int)strcspn(at, "+"), wrote;
        wrote = snprintf(out + used, PICTURE_TEXT - used, "%s%.*s%s", value >> count & 1 ? "" : "not ",
                         length, at, count ? ", " : "");
        used += (size_t)wrote;
    }
}

/* Splits by image, in the file's order; the table lists the same images in the same order or the name is
 * sought. */
struct partition {
    struct reader r;
    struct line ahead;
    bool any;
};

static sotto_status split_of(int *out, struct partition *p, const struct word *image)
{
    *out = 0;
    if (!p->any)
        return SOTTO_OK;
    if (!next_line(&p->ahead, &p->r) || p->ahead.words != 2 || p->ahead.word[1].length != 1 ||
        p->ahead.word[1].text[0] < '0' || p->ahead.word[1].text[0] > '2')
        return status_fail(SOTTO_EFORMAT, "list_eval_partition.txt:%zu: expected an image name and 0, 1 or 2",
                           p->r.lines);
    if (!is_word(&p->ahead.word[0], image->text, image->length))
        return status_fail(
            SOTTO_EFORMAT,
            "list_eval_partition.txt:%zu: is for '%.*s', but the table of attributes has '%.*s' in this "
            "place",
            p->ahead.number, (int)(p->ahead.word[0].length < 40 ? p->ahead.word[0].length : 40),
            p->ahead.word[0].text, (int)(image->length < 40 ? image->length : 40), image->text);
    *out = p->ahead.word[1].text[0] - '0';
    return SOTTO_OK;
}

sotto_status celeba_from_memory(struct image_facts *out, const char *text, size_t size, const char *partition,
                                size_t partition_size, const char *name, const char *label,
                                const char *attribute)
{
    sotto_status status = SOTTO_OK;
    struct reader r = {text, text + size, name, 0};
    struct partition splits = {.any = partition != NULL};
    struct line count, header, l;
    struct columns columns[2];
    char *end, digits[24] = "", texts[2][16];
    if (partition)
        splits.r = (struct reader){partition, partition + partition_size, "", 0};
    if (!next_line(&count, &r) || count.words != 1 || count.word[0].length >= sizeof digits)
        FAIL(SOTTO_EFORMAT, "%s:1: expected only the number of images", name);
    memcpy(digits, count.word[0].text, count.word[0].length);
    unsigned long long expected = strtoull(digits, &end, 10), found = 0;
    if (*end || !isdigit((unsigned char)digits[0]))
        FAIL(SOTTO_EFORMAT, "%s:1: '%s' is not a number; expected the number of images", name, digits);
    if (!next_line(&header, &r) || header.words > MOST_COLUMNS)
        FAIL(SOTTO_EFORMAT, "%s:2: expected at most %d column names", name, MOST_COLUMNS);
    TRY(find_columns(&columns[0], &header, label, name));
    TRY(find_columns(&columns[1], &header, attribute, name));
    for (; next_line(&l, &r); found++) {
        int split;
        if (l.words != header.words + 1)
            FAIL(SOTTO_EFORMAT, "%s:%zu: %zu words; expected an image name and %zu numbers", name, l.number,
                 l.words, header.words);
        TRY(number_of(texts[0], &l, &columns[0], name));
        TRY(number_of(texts[1], &l, &columns[1], name));
        TRY(split_of(&split, &splits, &l.word[0]));
        TRY(image_facts_add(out, l.word[0].text, l.word[0].length, split, texts[0], texts[1]));
    }
    if (found != expected)
        FAIL(SOTTO_EFORMAT, "%s: the first line states %llu images but the table has %llu", name, expected,
             found);
    snprintf(out->attribute_name, sizeof out->attribute_name, "%s", attribute);
done:
    return status;
}

static size_t find_entry(const struct bundle *b, const char *base)
{
    size_t i = 0;
    while (i < b->count && strcmp(path_base(b->entries[i].name), base) != 0)
        i++;
    return i;
}

static bool celeba_recognise(const struct bundle *b)
{
    return find_entry(b, "list_attr_celeba.txt") < b->count && images_any(b);
}

static sotto_status read_faces(struct dataset *d, const struct bundle *b,
                               const struct sotto_import_options *options, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const char *asked[2] = {options->label ? options->label : "Male",
                            options->attribute ? options->attribute : "Attractive+Smiling"};
    size_t table = find_entry(b, "list_attr_celeba.txt"),
           partition = find_entry(b, "list_eval_partition.txt");
    char described[2][1 << MOST_JOINED][PICTURE_TEXT], where[700];
    const char *names[2][(1 << MOST_JOINED) + 1];
    struct bytes text = {0}, splits = {0};
    struct image_facts facts = {.label_names = names[0], .value_names = names[1]};
    bundle_where(where, sizeof where, b, table);
    TRY(bundle_load(&text, b, table));
    if (partition < b->count)
        TRY(bundle_load(&splits, b, partition));
    TRY(celeba_from_memory(&facts, (const char *)text.data, text.size, (const char *)splits.data, splits.size,
                           where, asked[0], asked[1]));
    for (int which = 0; which < 2; which++) {
        size_t columns = 1;
        for (const char *c = asked[which]; *c; c++)
            columns += *c == '+';
        for (unsigned v = 0; v < 1u << columns; v++) {
            celeba_describe(described[which][v], v, asked[which]);
            names[which][v] = described[which][v];
        }
        names[which][1u << columns] = NULL;
    }
    TRY(image_facts_read(d, &facts, b, options, ctx));
done:
    bytes_clear(&text);
    bytes_clear(&splits);
    image_facts_clear(&facts);
    return status;
}

const struct dataset_format format_celeba = {
    .name = "celeba",
    .layout =
        "list_attr_celeba.txt with pictures: label Male, attribute Attractive+Smiling (label, attribute)",
    .takes_size = true,
    .takes_label = true,
    .takes_attribute = true,
    .recognise = celeba_recognise,
    .read = read_faces};
