#include "ask/ask_table.h"
#include "ask/ask_persons.h"

#include "io/text/utf8.h"
#include "par/par.h"

#include <string.h>

enum { BLOCK = 1 << 20, LONGEST_ROW = 64 << 20, MOST_SUMS = 1 << 20 };
enum { SPOILT = 0x1a }; /* in the place of a byte that is no text; no person has it, nor a number */

void ask_table_close(struct ask_table *t)
{
    if (t->opened)
        source_close(&t->source);
    base_free(t->where);
    t->opened = false;
    t->where = NULL;
}

/* ---- where rows end ---- */

/* The end of the last row of a text, or of the first one; 0: there is none. *lines: that end before it. */
static size_t end_of_rows(size_t *lines, const char *text, size_t size, bool first)
{
    size_t end = 0, seen = 0;
    bool quoted = false;
    *lines = 0;
    for (size_t i = 0; i < size && !(first && end); i++) {
        quoted ^= text[i] == '"';
        if (text[i] != '\n')
            continue;
        seen++;
        if (!quoted)
            end = i + 1, *lines = seen;
    }
    return end;
}

/* The same where no quote stands in it. */
static size_t end_of_plain_rows(size_t *lines, const char *text, size_t size)
{
    size_t end = size;
    while (end > 0 && text[end - 1] != '\n')
        end--;
    *lines = 0;
    for (const char *at = text; at < text + end; at++)
        *lines += *at == '\n';
    return end;
}

/* Of a schema that says that its tables are no UTF-8. */
static sotto_status parse_text(struct csv *out, const char *text, size_t size, const struct ask_table *t,
                               const struct csv_style *style)
{
    sotto_status status = SOTTO_OK;
    const enum text_encoding from = t->plan->schema->text;
    char *copy = NULL;
    if (from != TEXT_UTF8)
        TRY(text_to_utf8(&copy, &size, text, size, from));
    TRY(csv_parse(out, copy ? copy : text, size, t->path, style));
done:
    base_free(copy);
    return status;
}

/* Bytes that are no text spoil their own cell alone. */
static void mend_bytes(char *text, size_t size, enum text_encoding encoding)
{
    for (size_t i = 0, bytes; i < size; i += bytes) {
        bytes = encoding == TEXT_UTF8 ? utf8_next(text + i, size - i) : 1;
        if (bytes == 0 || !text[i])
            text[i] = SPOILT, bytes = 1;
    }
}

/* ---- the header ---- */

/* Where the columns of the plan stand. */
static sotto_status place_columns(struct ask_table *t, const char *const *header, size_t columns,
                                  char separator)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_table_encoding *e = t->plan->schema;
    size_t *where = NULL;
    NEW(where, e->count + 1);
    size_t *label = &where[e->count];
    TRY(encoding_place_all(where, label, e, header, columns, t->path));
    if (t->plan->used[e->count] && *label == columns)
        FAIL(SOTTO_EFORMAT, "%s: column '%.80s' is missing; a query needs it", t->path, e->label);
    if (t->person) {
        t->who = header ? where[encoding_find(e, t->person)] : e->person_at;
        if (t->who >= columns)
            FAIL(SOTTO_EFORMAT, "%s: column '%.80s' is missing; {person} needs it", t->path, t->person);
    }
    t->where = where;
    t->columns = columns;
    t->style.separator = separator;
    t->style.keep = true;
    t->style.empty_row = columns == 1; /* its cell is missing */
    where = NULL;
done:
    base_free(where);
    return status;
}

/* Names divided by that character, or by what they show (0). */
static sotto_status try_header(struct ask_table *t, const char *text, size_t size, char separator)
{
    sotto_status status = SOTTO_OK;
    const struct csv_style style = {.separator = separator, .detect = !separator};
    struct csv c = {0};
    TRY(parse_text(&c, text, size, t, &style));
    TRY(place_columns(t, (const char *const *)c.cells, c.columns, c.separator));
done:
    csv_clear(&c);
    return status;
}

/* Without names the schema alone says which columns there are, and the file's name what divides them. */
static sotto_status place_by_schema(struct ask_table *t)
{
    const struct sotto_table_encoding *e = t->plan->schema;
    const size_t length = strlen(t->path);
    const bool tabs = length > 4 && strcmp(t->path + length - 4, ".tsv") == 0;
    if (t->source.size == t->offset)
        return status_fail(SOTTO_EFORMAT, "%s: contains no rows; expected at least one", t->path);
    return place_columns(t, NULL, e->count + (e->label != NULL), tabs ? '\t' : ',');
}

/* The header alone decides how columns are divided, so that no record does. */
static sotto_status read_header(struct ask_table *t)
{
    sotto_status status = SOTTO_OK;
    static const char separators[] = ",;\t|";
    const size_t left = t->source.size - t->offset, size = left < BLOCK ? left : BLOCK;
    size_t start = 0, lines = 0;
    char *text = NULL;
    NEW(text, size + 1);
    TRY(source_read(&t->source, text, t->offset, size));
    for (; start < size && (text[start] == '\n' || (text[start] == '\r' && text[start + 1] == '\n')); start++)
        t->line += text[start] == '\n';
    size_t bytes = end_of_rows(&lines, text + start, size - start, true);
    bytes = bytes ? bytes : size - start;
    for (const char *s = separators; *s && !t->where; s++)
        (void)try_header(t, text + start, bytes, *s);
    if (!t->where)
        TRY(try_header(t, text + start, bytes, 0));
    t->offset += start + bytes;
    t->line += lines;
done:
    base_free(text);
    return status;
}

static sotto_status open_source(struct ask_table *t)
{
    sotto_status status = SOTTO_OK;
    char start[3] = {0};
    t->block = t->block ? t->block : BLOCK;
    t->style.ctx = t->ctx;
    TRY(source_open(&t->source, t->path, t->ctx));
    t->opened = true;
    t->line = 1;
    if (t->source.size >= sizeof start)
        TRY(source_read(&t->source, start, 0, sizeof start));
    if (memcmp(start, "\xef\xbb\xbf", sizeof start) == 0)
        t->offset = sizeof start; /* the mark that some programs put before text */
    TRY(t->plan->schema->header ? read_header(t) : place_by_schema(t));
done:
    return status;
}

sotto_status ask_table_open(struct ask_table *t)
{
    return file_is_pipe(t->path) ? SOTTO_OK : open_source(t);
}

/* ---- blocks ---- */

/* Some rows of the table. */
struct block {
    char *text; /* (room + 1) */
    size_t size, room, line;
    struct csv c;
    struct ask_mark *marks; /* of each row; NULL: no persons */
    bool *left_out;         /* first rows that name nobody, then those beyond the cap */
    size_t *shares;         /* (kept rows) of how many rows of its person each is one */
};
struct summing {
    struct ask_table *t;
    struct ask_persons persons, all, in_cells; /* rows seen, rows of all, cells that a person is in */
    bool counting;             /* the first of two passes, which counts all rows of each person */
    struct block *blocks;      /* (threads) */
    int64_t **sums;            /* (threads) */
    struct ask_value **values; /* (threads) of the columns */
    size_t threads, count, read, kept;
};

/* Up to the end of the last row in so many bytes, or in twice as many where none ends. Where that goes on for too long, a quote is not
 * closed, and rows end where lines do. */
static sotto_status fill_block(struct block *b, struct ask_table *t)
{
    sotto_status status = SOTTO_OK;
    const size_t left = t->source.size - t->offset;
    size_t end = 0, lines = 0;
    for (size_t bytes = t->block; end == 0; bytes *= 2) {
        bytes = bytes < left ? bytes : left;
        if (b->room < bytes || !b->text) {
            base_free(b->text);
            b->text = NULL;
            b->room = bytes;
            NEW(b->text, bytes + 1);
        }
        TRY(source_read(&t->source, b->text, t->offset, bytes));
        if (bytes == left) {
            end = left;
            break;
        }
        end = memchr(b->text, '"', bytes) ? end_of_rows(&lines, b->text, bytes, false)
                                          : end_of_plain_rows(&lines, b->text, bytes);
        if (end == 0 && bytes >= LONGEST_ROW)
            end = end_of_plain_rows(&lines, b->text, bytes);
    }
    b->size = end;
    b->line = t->line;
    t->offset += end;
    t->line += lines;
done:
    return status;
}

/* Rows that name no person belong to nobody whose privacy the answers could spend, and are left out. */
static sotto_status mark_rows(struct block *b, const struct summing *s)
{
    sotto_status status = SOTTO_OK;
    size_t named = 0;
    NEW(b->marks, b->c.rows);
    NEW(b->left_out, b->c.rows);
    for (size_t i = 0; i < b->c.rows; i++) {
        const char *who = csv_cell(&b->c, i, s->t->who);
        b->left_out[i] = strchr(who, SPOILT) || !ask_persons_mark(&b->marks[named], &s->persons, who);
        named += !b->left_out[i];
    }
    csv_remove_rows(&b->c, b->left_out);
done:
    return status;
}

static sotto_status cut_block(void *arg, size_t chunk, int thread)
{
    sotto_status status = SOTTO_OK;
    struct summing *s = arg;
    struct block *b = &s->blocks[chunk];
    struct csv_style style = s->t->style;
    (void)thread;
    style.columns = s->t->columns;
    style.line = b->line;
    mend_bytes(b->text, b->size, s->t->plan->schema->text);
    TRY(parse_text(&b->c, b->text, b->size, s->t, &style));
    if (s->t->person)
        TRY(mark_rows(b, s));
done:
    return status;
}

static void read_values(struct ask_value *values, const struct ask_table *t, const struct csv *c, size_t row)
{
    const struct sotto_table_encoding *e = t->plan->schema;
    for (size_t j = 0; j <= e->count; j++) {
        if (!t->plan->used[j])
            continue;
        const char *text = csv_cell(c, row, t->where[j]);
        values[j] =
            ask_value_of(e, j, j < e->count ? encoding_cell(&e->columns[j], text) : cell_of_text(text));
    }
}

/* Each person once in each cell of queries that count persons. */
static sotto_status count_persons(struct summing *s, const struct block *b, size_t row)
{
    sotto_status status = SOTTO_OK;
    const struct ask_plan *plan = s->t->plan;
    read_values(s->values[0], s->t, &b->c, row);
    for (size_t i = 0; i < plan->count; i++) {
        const struct ask_query *q = &plan->queries[i];
        size_t group;
        uint32_t count;
        if (!q->persons || q->parts == 0 || q->again || !ask_group_of(&group, plan, q, s->values[0]))
            continue;
        TRY(ask_persons_add(&count, &s->in_cells, ask_persons_in(&s->persons, b->marks[row], i, group)));
        s->sums[0][q->first + group] += count == 1 ? q->mass : 0;
    }
done:
    return status;
}

/* In the order of the file. A person whose rows were counted before has no more than these, whatever the file holds by now. */
static sotto_status cap_block(struct block *b, struct summing *s)
{
    sotto_status status = SOTTO_OK;
    const bool some = ask_counts_persons(s->t->plan), parts = ask_is_per_person(s->t->plan);
    size_t kept = 0;
    uint32_t count;
    NEW(b->shares, b->c.rows);
    for (size_t i = 0; i < b->c.rows; i++) {
        size_t most = s->t->most;
        if (parts && ask_persons_count(&s->all, b->marks[i]) < most)
            most = ask_persons_count(&s->all, b->marks[i]);
        TRY(ask_persons_add(&count, &s->persons, b->marks[i]));
        b->left_out[i] = count > most;
        if (b->left_out[i])
            continue;
        b->shares[kept++] = most;
        if (some)
            TRY(count_persons(s, b, i));
    }
    csv_remove_rows(&b->c, b->left_out);
done:
    return status;
}

static sotto_status count_rows(const struct block *b, struct summing *s)
{
    sotto_status status = SOTTO_OK;
    uint32_t count;
    for (size_t i = 0; i < b->c.rows; i++)
        TRY(ask_persons_add(&count, &s->all, b->marks[i]));
done:
    return status;
}

static sotto_status sum_block(void *arg, size_t chunk, int thread)
{
    const struct summing *s = arg;
    const struct block *b = &s->blocks[chunk];
    for (size_t i = 0; i < b->c.rows; i++) {
        read_values(s->values[thread], s->t, &b->c, i);
        ask_add_row(s->sums[thread], s->t->plan, s->values[thread], b->shares ? b->shares[i] : 1);
    }
    return SOTTO_OK;
}

static void clear_block(struct block *b)
{
    csv_clear(&b->c);
    base_free(b->marks);
    base_free(b->left_out);
    base_free(b->shares);
    b->shares = NULL;
    b->marks = NULL;
    b->left_out = NULL;
}

static sotto_status sum_blocks(struct summing *s)
{
    sotto_status status = SOTTO_OK;
    struct ask_table *t = s->t;
    for (s->count = 0; s->count < s->threads && t->offset < t->source.size; s->count++)
        TRY(fill_block(&s->blocks[s->count], t));
    TRY(par_each(s->count, t->ctx, cut_block, s));
    for (size_t k = 0; k < s->count && s->counting; k++)
        TRY(count_rows(&s->blocks[k], s));
    for (size_t k = 0; k < s->count && !s->counting; k++) {
        s->read += s->blocks[k].c.rows;
        if (t->person)
            TRY(cap_block(&s->blocks[k], s));
        s->kept += s->blocks[k].c.rows;
    }
    if (!s->counting)
        TRY(par_chunks(s->count, t->plan->sums > MOST_SUMS ? 1 : (int)s->threads, sum_block, s));
done:
    for (size_t k = 0; k < s->threads; k++)
        clear_block(&s->blocks[k]);
    return status;
}

static sotto_status make_room(struct summing *s, int64_t *sums)
{
    sotto_status status = SOTTO_OK;
    const struct ask_plan *plan = s->t->plan;
    NEW(s->blocks, s->threads);
    NEW(s->sums, s->threads);
    NEW(s->values, s->threads);
    for (size_t k = 0; k < s->threads; k++) {
        NEW(s->values[k], plan->schema->count + 1);
        if (k == 0)
            s->sums[k] = sums;
        else if (plan->sums <= MOST_SUMS)
            NEW(s->sums[k], plan->sums);
    }
    if (s->t->person) {
        TRY(ask_persons_open(&s->persons));
        TRY(ask_persons_open(&s->all));
        TRY(ask_persons_open(&s->in_cells));
        memcpy(s->all.key, s->persons.key, sizeof s->all.key); /* one person has one mark in both */
    }
done:
    return status;
}

static void drop_room(struct summing *s)
{
    for (size_t k = 0; k < s->threads; k++) {
        if (s->blocks)
            base_free(s->blocks[k].text);
        if (s->values)
            base_free(s->values[k]);
        if (k > 0 && s->sums && s->sums[k]) {
            base_wipe(s->sums[k], s->t->plan->sums * sizeof **s->sums);
            base_free(s->sums[k]);
        }
    }
    base_free(s->blocks);
    base_free(s->values);
    base_free(s->sums);
    ask_persons_close(&s->persons);
    ask_persons_close(&s->all);
    ask_persons_close(&s->in_cells);
}

/* From where the rows begin to the end of the table. */
static sotto_status sum_all(struct summing *s)
{
    sotto_status status = SOTTO_OK;
    struct ask_table *t = s->t;
    const size_t offset = t->offset, line = t->line;
    while (t->offset < t->source.size)
        TRY(sum_blocks(s));
    if (s->counting)
        t->offset = offset, t->line = line;
    s->counting = false;
done:
    return status;
}

sotto_status ask_table_sum(int64_t *sums, size_t *rows, size_t *persons, struct ask_table *t)
{
    sotto_status status = SOTTO_OK;
    const int threads = par_threads(t->ctx);
    struct summing s = {.t = t,
                        .threads = threads > 0 ? (size_t)threads : 1,
                        .counting = t->person && ask_is_per_person(t->plan)};
    TRY(make_room(&s, sums));
    if (!t->opened)
        TRY(open_source(t));
    if (s.counting)
        TRY(sum_all(&s));
    TRY(sum_all(&s));
    for (size_t k = 1; k < s.threads && s.sums[k]; k++)
        for (size_t c = 0; c < t->plan->sums; c++)
            sums[c] += s.sums[k][c];
    if (t->person)
        context_log(t->ctx, SOTTO_LOG_INFO,
                    "unit of privacy: one person (column %s); %zu of %zu rows kept, at most %zu each",
                    t->person, s.kept, s.read, t->most);
    *rows = s.kept;
    *persons = s.persons.used;
done:
    drop_room(&s);
    return status;
}
