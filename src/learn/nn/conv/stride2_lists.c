#include "nn/conv/stride2_lists.h"

#include "nn/conv/bf16_kernels.h"

/* ---- pairs ---- */

/* A position before the first wraps to a huge one. */
size_t stride2_meets(const struct stride2_pass *p, size_t length, size_t x, size_t k)
{
    size_t at = p->back ? x + p->desc->pad - k : 2 * x + k - p->desc->pad;
    if (p->back && at % 2)
        return STRIDE2_NONE;
    at = p->back ? at / 2 : at;
    return at < length ? at : STRIDE2_NONE;
}

/* Positions of the kernel that x meets. */
static unsigned mask_of(const struct stride2_pass *p, size_t length, size_t x, size_t kernel)
{
    unsigned mask = 0;
    for (size_t k = 0; k < kernel; k++)
        if (stride2_meets(p, length, x, k) != STRIDE2_NONE)
            mask |= 1U << k;
    return mask;
}

/* Both outer columns of the kernel, and forward the middle one. */
static bool is_whole(const struct stride2_pass *p, size_t x)
{
    return x < p->out.width && mask_of(p, p->in.width, x, STRIDE2_WIDE) == (p->back ? 5U : 7U);
}

void stride2_pass_begin(struct stride2_pass *p, const struct conv_desc *desc, bool back)
{
    *p = (struct stride2_pass){.desc = desc,
                               .back = back,
                               .in = back ? desc->dst : desc->src,
                               .out = back ? desc->src : desc->dst,
                               .reach = back ? 2 : 1,
                               .step = back ? 1 : 2};
    while (p->first < p->out.width && !is_whole(p, p->first))
        p->first++;
    while (is_whole(p, p->first + 2 * p->pairs * p->reach) &&
           is_whole(p, p->first + (2 * p->pairs + 1) * p->reach))
        p->pairs++;
    if (p->pairs)
        p->column = stride2_meets(p, p->in.width, p->first, back ? 2 : 0);
}

enum stride2_kind stride2_kind_of(const struct stride2_pass *p, size_t x, size_t *pair)
{
    size_t past = x - p->first, place = past / p->reach; /* before the first: huge */
    *pair = place / 2;
    if (past % p->reach == 0 && *pair < p->pairs)
        return place % 2 ? STRIDE2_RIGHT : STRIDE2_LEFT;
    return STRIDE2_SINGLE + mask_of(p, p->in.width, x, STRIDE2_WIDE);
}

size_t stride2_far(const struct stride2_pass *p)
{
    return p->in.height * p->pairs * 2 * p->in.channels;
}

size_t stride2_far_of(const struct stride2_pass *p, size_t n, size_t y, size_t pair)
{
    return n * stride2_far(p) + (y * p->pairs + pair) * 2 * p->in.channels;
}

/* ---- lists ---- */

static size_t taps_of(const struct stride2_pass *p)
{
    return p->desc->kernel_height * STRIDE2_WIDE;
}

static struct stride2_group *group_of(struct stride2_pass *p, size_t y)
{
    unsigned mask = mask_of(p, p->in.height, y, p->desc->kernel_height);
    size_t i = 0;
    while (i < p->count && p->groups[i].mask != mask)
        i++;
    if (i == p->count)
        p->groups[p->count++].mask = mask;
    return &p->groups[i];
}

/* Row and column of the kernel that a tap stands for: a middle sum is what the left result reads in its right half. */
static size_t row_of(const struct stride2_pass *p, size_t tap)
{
    return tap < taps_of(p) ? tap / STRIDE2_WIDE : tap - taps_of(p);
}

static size_t column_of(const struct stride2_pass *p, size_t tap)
{
    return tap < taps_of(p) ? tap % STRIDE2_WIDE : p->back ? 0 : 2;
}

/* Taps of these columns, in all rows of the mask. */
static void add_taps(struct stride2_list *l, unsigned rows, unsigned columns)
{
    for (size_t k = 0; k < STRIDE2_ROWS_MAX; k++)
        for (size_t c = 0; c < STRIDE2_WIDE; c++)
            if (rows >> k & 1 && columns >> c & 1) {
                if (l->tap)
                    l->tap[l->taps] = STRIDE2_WIDE * k + c;
                l->taps++;
            }
}

/* Counts them while there is no room yet. */
static void set_taps(struct stride2_list *l, const struct stride2_pass *p, unsigned rows,
                     enum stride2_kind kind)
{
    l->taps = 0;
    if (kind == STRIDE2_MIDDLE)
        for (size_t k = 0; k < p->desc->kernel_height; k++)
            if (rows >> k & 1) {
                if (l->tap)
                    l->tap[l->taps] = taps_of(p) + k;
                l->taps++;
            }
    if (kind == STRIDE2_LEFT || kind == STRIDE2_RIGHT)
        add_taps(l, rows, p->back ? 0 : 2);
    if (kind >= STRIDE2_SINGLE)
        add_taps(l, rows, (unsigned)(kind - STRIDE2_SINGLE));
    l->near = l->taps;
    if (kind == STRIDE2_LEFT || kind == STRIDE2_RIGHT)
        add_taps(l, rows, (kind == STRIDE2_LEFT) == p->back ? 4 : 1);
}

static uint32_t pixel_of(struct nn_shape s, size_t n, size_t y, size_t x)
{
    return (uint32_t)(((n * s.height + y) * s.width + x) * s.channels);
}

static void fill_pixel(struct stride2_list *l, const struct stride2_pass *p, enum stride2_kind kind, size_t n,
                       size_t y, size_t x)
{
    size_t row = l->filled++, pair;
    (void)stride2_kind_of(p, x, &pair);
    l->out_at[row] =
        kind == STRIDE2_MIDDLE ? (uint32_t)(row * bf16_panel(p->out.channels)) : pixel_of(p->out, n, y, x);
    for (size_t t = 0; t < l->taps; t++) {
        size_t down = stride2_meets(p, p->in.height, y, row_of(p, l->tap[t])),
               across = stride2_meets(p, p->in.width, x, column_of(p, l->tap[t]));
        l->in_at[t * l->room + row] =
            t < l->near
                ? pixel_of(p->in, n, down, across)
                : (uint32_t)(stride2_far_of(p, n, down, pair) + (kind == STRIDE2_RIGHT ? p->in.channels : 0));
    }
}

/* Counts the pixel if there is no room yet. */
static void stride2_lists_put(struct stride2_pass *p, struct stride2_group *g, enum stride2_kind kind,
                              size_t n, size_t y, size_t x)
{
    struct stride2_list *l = &g->lists[kind];
    if (l->room)
        fill_pixel(l, p, kind, n, y, x);
    else
        l->rows++;
}

static void each_pixel(struct stride2_pass *p, size_t images)
{
    for (size_t n = 0; n < images; n++)
        for (size_t y = 0; y < p->out.height; y++) {
            struct stride2_group *g = group_of(p, y);
            for (size_t x = 0; x < p->out.width; x++) {
                size_t pair;
                enum stride2_kind kind = stride2_kind_of(p, x, &pair);
                if (kind == STRIDE2_LEFT)
                    stride2_lists_put(p, g, STRIDE2_MIDDLE, n, y, x);
                stride2_lists_put(p, g, kind, n, y, x);
            }
        }
}

static void stride2_lists_place(struct stride2_pass *p)
{
    for (struct stride2_group *g = p->groups; g < p->groups + p->count; g++)
        for (size_t kind = 0; kind < STRIDE2_KINDS; kind++) {
            struct stride2_list *l = &g->lists[kind];
            l->tap = arena_take(&p->memory, l->taps, sizeof *l->tap);
            l->out_at = arena_take(&p->memory, p->block * l->rows, sizeof *l->out_at);
            l->in_at = arena_take(&p->memory, l->taps * p->block * l->rows, sizeof *l->in_at);
        }
}

static void each_list(struct stride2_pass *p)
{
    for (struct stride2_group *g = p->groups; g < p->groups + p->count; g++)
        for (int kind = 0; kind < STRIDE2_KINDS; kind++) {
            struct stride2_list *l = &g->lists[kind];
            set_taps(l, p, g->mask, (enum stride2_kind)kind);
            if (l->out_at)
                l->room = p->block * l->rows;
            if (kind == STRIDE2_MIDDLE && l->rows > p->middles)
                p->middles = l->rows;
        }
}

sotto_status stride2_pass_create(struct stride2_pass *p, size_t block)
{
    sotto_status status = SOTTO_OK;
    p->block = block;
    NEW(p->groups, p->out.height);
    each_pixel(p, 1);
    each_list(p);
    stride2_lists_place(p);
    TRY(arena_reserve(&p->memory, "convolution"));
    stride2_lists_place(p);
    each_list(p);
    each_pixel(p, block);
done:
    return status;
}

void stride2_pass_clear(struct stride2_pass *p)
{
    arena_clear(&p->memory);
    base_free(p->groups);
}
