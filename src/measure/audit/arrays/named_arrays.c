#include "audit/arrays/named_arrays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sotto_status sotto_arrays_open(struct sotto_arrays **out)
{
    REQUIRE_GIVEN(out);
    sotto_status status = SOTTO_OK;
    struct sotto_arrays *a = NULL;
    NEW(a, 1);
    *out = a;
done:
    return status;
}

sotto_status sotto_arrays_give(struct sotto_arrays *a, const struct sotto_option *row,
                               const struct sotto_array *array, const char *file)
{
    REQUIRE_GIVEN(a, row, array || file);
    if (a->count == ARRAYS_MOST)
        return status_fail(SOTTO_EINVAL, "{%s}: more than %d arrays; expected each once", row->name,
                           ARRAYS_MOST);
    struct named_array *held = &a->held[a->count++];
    *held = (struct named_array){.row = row, .file = file, .lent = array != NULL};
    if (array)
        held->array = *array;
    return SOTTO_OK;
}

void sotto_arrays_close(struct sotto_arrays *a)
{
    for (size_t i = 0; a && i < a->count; i++)
        if (!a->held[i].lent)
            sotto_array_clear(&a->held[i].array);
    for (size_t i = 0; a && i < sizeof a->rows / sizeof *a->rows; i++)
        sotto_rows_close(a->rows[i]);
    base_free(a);
}

/* ---- names ---- */

/* The next of "a|b"; NULL: there is none. */
static const char *next_name(size_t *length, const char *after)
{
    const char *name = after && *after == '|' ? after + 1 : after;
    if (!name || !*name)
        return NULL;
    *length = strcspn(name, "|");
    return name;
}

struct named_array *arrays_find(struct sotto_arrays *a, const char *names)
{
    size_t length = 0;
    for (const char *name = next_name(&length, names); name; name = next_name(&length, name + length))
        for (size_t i = 0; i < a->count; i++)
            if (strlen(a->held[i].row->name) == length && memcmp(a->held[i].row->name, name, length) == 0)
                return &a->held[i];
    return NULL;
}

/* As callers of C and Python write it: member_logits. */
static void keyword_of(char out[ARRAYS_NAME], const char *name, size_t length)
{
    size_t i = 0;
    for (; i < length && i < ARRAYS_NAME - 1; i++)
        out[i] = name[i] == '-' ? '_' : name[i];
    out[i] = '\0';
}

const char *arrays_who(char out[ARRAYS_NAME], const struct named_array *held)
{
    if (held->file)
        return held->file;
    keyword_of(out, held->row->name, strlen(held->row->name));
    return out;
}

/* ---- sizes ---- */

static struct named_size *find_size(const struct sotto_arrays *a, const char *axis, size_t length, int scope)
{
    for (size_t i = 0; i < a->size_count; i++)
        if (a->sizes[i].scope == scope && a->sizes[i].length == length &&
            memcmp(a->sizes[i].axis, axis, length) == 0)
            return (struct named_size *)&a->sizes[i];
    return NULL;
}

size_t arrays_size(const struct sotto_arrays *a, const char *axis, int scope)
{
    const struct named_size *size = find_size(a, axis, strlen(axis), scope);
    return size ? size->n : 0;
}

static void keep_size(struct sotto_arrays *a, const char *axis, size_t length, int scope, size_t n,
                      const struct named_array *by)
{
    if (!find_size(a, axis, length, scope) && a->size_count < ARRAYS_MOST)
        a->sizes[a->size_count++] = (struct named_size){axis, length, n, scope, by};
}

sotto_status arrays_say(struct sotto_arrays *a, const char *axis, int scope, size_t n, const char *why)
{
    const struct named_size *size = find_size(a, axis, strlen(axis), scope);
    char who[ARRAYS_NAME];
    if (size && size->n != n)
        return status_fail(SOTTO_EINVAL, "%s: has %zu of '%s'; expected %zu, as %s",
                           size->by ? arrays_who(who, size->by) : "arrays", size->n, axis, n, why);
    keep_size(a, axis, strlen(axis), scope, n, NULL);
    return SOTTO_OK;
}

/* One axis of a shape, "n" or "features...": what is left is flattened into it. */
struct axis {
    const char *name;
    size_t length;
    bool rest;
};

static int read_shape(struct axis out[SOTTO_MAX_DIMS], const char *shape)
{
    int count = 0;
    for (const char *at = shape; *at && count < SOTTO_MAX_DIMS; at += *at == ',') {
        const size_t length = strcspn(at, ",");
        const bool rest = length > 3 && memcmp(at + length - 3, "...", 3) == 0;
        out[count++] = (struct axis){at, rest ? length - 3 : length, rest};
        at += length;
    }
    return count;
}

/* ---- shapes ---- */

/* Flattens the rest, and drops an axis of 1 behind the last; what is still of another number of axes does not fit. */
static void shape_flatten(struct sotto_array *x, const struct axis *axes, int count)
{
    if (axes[count - 1].rest && x->ndim >= count) {
        size_t rest = 1;
        for (int i = count - 1; i < x->ndim; i++)
            rest *= x->shape[i];
        x->shape[count - 1] = rest;
        x->ndim = count;
    } else if (axes[count - 1].rest && x->ndim == count - 1) {
        x->shape[x->ndim++] = 1;
    } else if (x->ndim == count + 1 && x->shape[count] == 1) {
        x->ndim = count;
    }
}

static size_t wanted_size(const struct sotto_arrays *a, const struct axis *axis, int scope, size_t has)
{
    const struct named_size *size = find_size(a, axis->name, axis->length, scope);
    return size ? size->n : has;
}

static bool shape_fits(const struct sotto_arrays *a, const struct sotto_array *x, const struct axis *axes,
                       int count, int scope)
{
    bool good = x->ndim == count;
    for (int i = 0; good && i < count; i++)
        good = x->shape[i] == wanted_size(a, &axes[i], scope, x->shape[i]);
    return good;
}

static bool shape_fits_turned(const struct sotto_arrays *a, const struct sotto_array *x,
                              const struct axis *axes, int count, int scope)
{
    const struct sotto_array turned = {.ndim = 2, .shape = {x->shape[1], x->shape[0]}};
    return x->ndim == 2 && count == 2 && !axes[1].rest && shape_fits(a, &turned, axes, count, scope);
}

/* Text behind text; what does not fit is left out. */
static void add_text(char *out, size_t capacity, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void add_text(char *out, size_t capacity, const char *format, ...)
{
    const size_t used = strlen(out);
    va_list args;
    va_start(args, format);
    vsnprintf(out + used, capacity - used, format, args);
    va_end(args);
}

/* "(n, models), n = 600 as in l.npy": the shape of the row, and where its sizes come from. */
static void describe_wanted(char *out, size_t capacity, const struct sotto_arrays *a,
                            const struct sotto_array *x, const struct axis *axes, int count, int scope)
{
    char who[ARRAYS_NAME];
    out[0] = '\0';
    for (int i = 0; i < count; i++)
        add_text(out, capacity, "%s%.*s", i ? ", " : "(", axes[i].rest ? 3 : (int)axes[i].length,
                 axes[i].rest ? "..." : axes[i].name);
    add_text(out, capacity, ")");
    for (int i = 0; i < count; i++) {
        const struct named_size *size = find_size(a, axes[i].name, axes[i].length, scope);
        if (size && (x->ndim != count || x->shape[i] != size->n))
            add_text(out, capacity, ", %.*s = %zu%s%s", (int)axes[i].length, axes[i].name, size->n,
                     size->by ? " as in " : "", size->by ? arrays_who(who, size->by) : "");
    }
}

static sotto_status refuse_shape(const struct sotto_arrays *a, const struct named_array *held,
                                 const struct axis *axes, int count, int scope)
{
    const struct sotto_array *x = &held->array;
    char who[ARRAYS_NAME], wanted[768], has[160] = "";
    for (int i = 0; i < x->ndim; i++)
        add_text(has, sizeof has, "%s%zu", i ? ", " : "", x->shape[i]);
    describe_wanted(wanted, sizeof wanted, a, x, axes, count, scope);
    return status_fail(SOTTO_EINVAL, "%s: has shape (%s); expected %s%s", arrays_who(who, held), has, wanted,
                       shape_fits_turned(a, x, axes, count, scope) ? ", so transpose it" : "");
}

static sotto_status take_shape(struct sotto_arrays *a, struct named_array *held, int scope)
{
    struct axis axes[SOTTO_MAX_DIMS];
    const int count = read_shape(axes, held->row->shape);
    shape_flatten(&held->array, axes, count);
    if (!shape_fits(a, &held->array, axes, count, scope) || (axes[count - 1].rest && held->array.count == 0))
        return refuse_shape(a, held, axes, count, scope);
    for (int i = 0; i < count; i++)
        keep_size(a, axes[i].name, axes[i].length, scope, held->array.shape[i], held);
    return SOTTO_OK;
}

/* ---- types ---- */

static enum sotto_dtype wanted_dtype(const struct named_array *held)
{
    static const struct {
        const char *name;
        enum sotto_dtype dtype;
    } known[] = {{"f4", SOTTO_F4}, {"f8", SOTTO_F8}, {"i8", SOTTO_I8}, {"u1", SOTTO_U1}};
    if (strcmp(held->row->dtype, "f4|f8") == 0)
        return held->array.dtype == SOTTO_F8 ? SOTTO_F8 : SOTTO_F4;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(held->row->dtype, known[i].name, 2) == 0)
            return known[i].dtype;
    return SOTTO_F8;
}

/* "losses" of member-losses; a name whose last word is no plural has values. */
static const char *what_it_holds(const struct named_array *held)
{
    const char *dash = strrchr(held->row->name, '-'), *word = dash ? dash + 1 : held->row->name;
    return word[strlen(word) - 1] == 's' ? word : "values";
}

sotto_status arrays_own(struct named_array *held)
{
    sotto_status status = SOTTO_OK;
    struct sotto_array copy = {0};
    if (!held->lent)
        return SOTTO_OK;
    TRY(sotto_array_make(&copy, held->array.dtype, held->array.ndim, held->array.shape));
    if (held->array.count)
        memcpy(copy.data, held->array.data, held->array.count * sotto_dtype_size(held->array.dtype));
    held->array = copy;
    held->lent = false;
done:
    return status;
}

static sotto_status take_type(struct named_array *held)
{
    sotto_status status = SOTTO_OK;
    const enum sotto_dtype dtype = wanted_dtype(held);
    char name[ARRAYS_NAME];
    const char *who = arrays_who(name, held);
    if (held->row->dtype[0] == 'f' && !strchr(held->row->dtype, '?')) /* "f4?": NaN says something */
        TRY(sotto_array_require_finite(&held->array, who, what_it_holds(held)));
    TRY(sotto_array_require_exact(&held->array, dtype, who));
    if (held->array.dtype == dtype)
        goto done;
    TRY(arrays_own(held));
    status = sotto_array_convert(&held->array, dtype);
    if (status == SOTTO_EINVAL)
        FAIL(SOTTO_EINVAL, "%s: contains fractions, or numbers that %s cannot hold; %s must be whole numbers",
             who, sotto_dtype_name(dtype), what_it_holds(held));
done:
    return status;
}

sotto_status arrays_take(struct sotto_arrays *a, struct named_array *held, int scope,
                         const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    if (held->taken)
        goto done;
    if (!held->lent && !held->array.data)
        TRY(sotto_array_load(&held->array, held->file, 0, ctx));
    TRY(take_shape(a, held, scope));
    TRY(take_type(held));
    held->taken = true;
done:
    return status;
}

bool arrays_name_is_of(const char *name, const char *names)
{
    size_t length = 0;
    for (const char *at = next_name(&length, names); at; at = next_name(&length, at + length))
        if (strlen(name) == length && memcmp(name, at, length) == 0)
            return true;
    return false;
}

sotto_status arrays_take_table(void *into, struct sotto_arrays *a, const struct sotto_option *table,
                               const char *apart, int scope, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    for (const struct sotto_option *row = table; row->name; row++) {
        struct named_array *held =
            row->shape && !arrays_name_is_of(row->name, apart) ? arrays_find(a, row->name) : NULL;
        if (!held)
            continue;
        TRY(arrays_take(a, held, scope, ctx));
        const void *data = held->array.data;
        const bool twin = strcmp(row->dtype, "f4|f8") == 0 && held->array.dtype == SOTTO_F8;
        memcpy((char *)into + (twin ? row->count : row->offset), &data, sizeof data);
    }
done:
    return status;
}

/* ---- what they need of each other ---- */

/* "{a}, {b} and {c}" */
static void list_names(char *out, size_t capacity, const char *names, const char *last)
{
    size_t length = 0, next = 0;
    char key[ARRAYS_NAME];
    out[0] = '\0';
    for (const char *name = next_name(&length, names); name; name = next_name(&length, name + length)) {
        const bool more = next_name(&next, name + length) != NULL;
        keyword_of(key, name, length);
        status_format(out + strlen(out), capacity - strlen(out), "%s{%s}",
                      name == names ? ""
                      : more        ? ", "
                                    : last,
                      key);
    }
}

static size_t count_given(struct sotto_arrays *a, const char *names, size_t *all)
{
    size_t length = 0, given = 0;
    *all = 0;
    for (const char *name = next_name(&length, names); name; name = next_name(&length, name + length)) {
        char one[ARRAYS_NAME];
        snprintf(one, sizeof one, "%.*s", (int)length, name);
        given += arrays_find(a, one) != NULL;
        ++*all;
    }
    return given;
}

sotto_status arrays_check_needs(struct sotto_arrays *a, const struct arrays_need *rules, const char *call)
{
    char names[768], of[512], key[ARRAYS_NAME];
    for (const struct arrays_need *r = rules; r->names; r++) {
        size_t all, others = 0;
        const size_t given = count_given(a, r->names, &all),
                     also = r->of ? count_given(a, r->of, &others) : 0;
        if (r->rule == ARRAYS_TOGETHER && given > 0 && given < all) {
            list_names(names, sizeof names, r->names, " and ");
            return status_fail(SOTTO_EUSAGE, "%s: %s must be given together", call, names);
        }
        if (r->rule == ARRAYS_EITHER && given > 0 && also > 0) {
            const struct named_array *one = arrays_find(a, r->names), *other = arrays_find(a, r->of);
            keyword_of(key, one->row->name, strlen(one->row->name));
            status_format(names, sizeof names, "{%s}", key);
            keyword_of(key, other->row->name, strlen(other->row->name));
            status_format(of, sizeof of, "{%s}", key);
            return status_fail(SOTTO_EUSAGE, "%s: give either %s or %s, not both", call, names, of);
        }
        if (r->rule == ARRAYS_NEED && given > 0 && also == 0) {
            const struct named_array *one = arrays_find(a, r->names);
            keyword_of(key, one->row->name, strlen(one->row->name));
            list_names(of, sizeof of, r->of, " or ");
            return status_fail(SOTTO_EUSAGE, "%s: {%s} needs %s", call, key, of);
        }
    }
    return SOTTO_OK;
}
