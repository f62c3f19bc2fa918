/* Tables of bits, far too large for a general table of texts: Purchase-100 (197,324 x 600) in one file,
 * Texas-100 (67,330 x 6,169) in two. */
#include "data/format/bit_table.h"

#include "data/format/format.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK = 1024 }; /* rows between questions whether to go on */

struct cursor {
    const struct text_bytes *text;
    const unsigned char *at, *end;
    size_t line; /* from 1 */
};

static struct cursor bit_table_start(const struct text_bytes *t)
{
    return (struct cursor){t, t->data, t->data + t->size, 1};
}

static bool bit_table_ends(const struct cursor *c)
{
    return c->at == c->end;
}

/* The end of a line: \n, \r\n, or the end of the file. */
static sotto_status read_end(struct cursor *c, const char *expected)
{
    if (!bit_table_ends(c) && *c->at == '\r')
        c->at++;
    if (!bit_table_ends(c) && *c->at != '\n')
        return status_fail(SOTTO_EFORMAT, "%s:%zu: expected %s", c->text->where, c->line, expected);
    c->at += !bit_table_ends(c);
    c->line++;
    return SOTTO_OK;
}

static sotto_status read_class(struct cursor *c, int64_t *out)
{
    int64_t value = 0;
    const unsigned char *first = c->at;
    for (; !bit_table_ends(c) && *c->at >= '0' && *c->at <= '9' && value < 100000; c->at++)
        value = 10 * value + (*c->at - '0');
    if (c->at == first || value < 1 || value > 10000)
        return status_fail(SOTTO_EFORMAT, "%s:%zu: expected a class, a whole number from 1 to 10000",
                           c->text->where, c->line);
    *out = value - 1;
    return SOTTO_OK;
}

static sotto_status read_bits(struct cursor *c, float *out, size_t d)
{
    for (size_t j = 0; j < d; j++) {
        bool comma = j == 0 || (!bit_table_ends(c) && *c->at == ',');
        c->at += j > 0 && comma;
        if (!comma || bit_table_ends(c) || (*c->at != '0' && *c->at != '1'))
            return status_fail(SOTTO_EFORMAT,
                               "%s:%zu: bit %zu is missing or is not 0 or 1; expected %zu bits",
                               c->text->where, c->line, j + 1, d);
        out[j] = (float)(*c->at++ - '0');
    }
    return read_end(c, "the end of the line after the last bit");
}

static size_t count_lines(const struct text_bytes *t)
{
    size_t lines = t->size > 0 && t->data[t->size - 1] != '\n';
    for (size_t i = 0; i < t->size; i++)
        lines += t->data[i] == '\n';
    return lines;
}

/* Columns of the first line. */
static size_t count_cells(const struct text_bytes *t)
{
    size_t cells = 1;
    for (size_t i = 0; i < t->size && t->data[i] != '\n'; i++)
        cells += t->data[i] == ',';
    return cells;
}

sotto_status bit_table_from_memory(struct dataset *d, const struct text_bytes *rows,
                                   const struct text_bytes *labels)
{
    sotto_status status = SOTTO_OK;
    size_t n = count_lines(rows), cells = count_cells(rows), columns = cells - (labels ? 0 : 1);
    struct cursor bits = bit_table_start(rows), classes = bit_table_start(labels ? labels : rows);
    int64_t largest = 1;
    if (n == 0 || columns == 0)
        FAIL(SOTTO_EFORMAT, "%s: holds no line of bits", rows->where);
    if (labels && count_lines(labels) != n)
        FAIL(SOTTO_EFORMAT, "%s: contains %zu classes but %s has %zu lines; expected one class per line",
             labels->where, count_lines(labels), rows->where, n);
    if (rows->size / 2 / n <
        columns) /* a bit and what follows it: nothing larger is reserved than the file */
        FAIL(SOTTO_EFORMAT,
             "%s: the first line has %zu bits, but the file is too short for as many in every line",
             rows->where, columns);
    TRY(dataset_reserve_features(d, n, columns, true));
    for (size_t i = 0; i < n; i++) {
        if (i % BLOCK == 0)
            TRY(context_check(d->ctx, "%s: stopped while it was read", rows->where));
        if (labels) {
            TRY(read_class(&classes, &d->labels[i]));
            TRY(read_end(&classes, "one class a line"));
        } else {
            TRY(read_class(&bits, &d->labels[i]));
            if (bit_table_ends(&bits) || *bits.at++ != ',')
                FAIL(SOTTO_EFORMAT, "%s:%zu: expected a comma after the class", rows->where, bits.line);
        }
        TRY(read_bits(&bits, d->features + i * columns, columns));
        largest = d->labels[i] > largest ? d->labels[i] : largest;
    }
    d->set.n_train = n;
    TRY(dataset_set_classes(d, (size_t)largest + 1, NULL));
done:
    return status;
}

struct found {
    size_t rows, labels;
    bool has_rows, has_labels, split;
};

static struct found bit_table_find(const struct bundle *b)
{
    struct found f = {0};
    for (size_t i = 0; i < b->count; i++) {
        const char *base = path_base(b->entries[i].name);
        if (strcmp(base, "dataset_purchase") == 0 && !f.has_rows)
            f.rows = i, f.has_rows = true;
        else if (strcmp(base, "feats") == 0 && !f.has_rows)
            f.rows = i, f.has_rows = f.split = true;
        else if (strcmp(base, "labels") == 0)
            f.labels = i, f.has_labels = true;
    }
    return f;
}

static bool bit_table_recognise(const struct bundle *b)
{
    struct found f = bit_table_find(b);
    return f.has_rows && (!f.split || f.has_labels);
}

static sotto_status read_table(struct dataset *d, const struct bundle *b,
                               const struct sotto_import_options *options, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct found f = bit_table_find(b);
    struct bytes rows = {0}, labels = {0};
    char where[2][700];
    (void)options, (void)ctx;
    bundle_where(where[0], sizeof where[0], b, f.rows);
    TRY(bundle_load(&rows, b, f.rows));
    if (f.split) {
        bundle_where(where[1], sizeof where[1], b, f.labels);
        TRY(bundle_load(&labels, b, f.labels));
    }
    struct text_bytes text = {rows.data, rows.size, where[0]}, classes = {labels.data, labels.size, where[1]};
    TRY(bit_table_from_memory(d, &text, f.split ? &classes : NULL));
done:
    bytes_clear(&rows);
    bytes_clear(&labels);
    return status;
}

const struct dataset_format format_bit_table = {
    .name = "bit-table",
    .layout = "dataset_purchase (class, then bits), or feats and labels (Texas-100): classes from 1",
    .recognise = bit_table_recognise,
    .read = read_table};
