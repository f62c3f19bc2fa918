/* A report for people. One word for each rank of trust; a good end is "consistent", and never more. */
#include "base/memory.h"
#include "dp/release/verification.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct page {
    char *text;
    size_t used, capacity; /* measured first, with text NULL */
};

static void put(struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct page *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length =
        vsnprintf(p->text ? p->text + p->used : NULL, p->text ? p->capacity - p->used : 0, format, args);
    va_end(args);
    p->used += length > 0 ? (size_t)length : 0;
}

static const char *text_or(const char *text, const char *missing)
{
    return text ? text : missing;
}

static void put_list(struct page *p, const char *title, const char *const *lines, size_t count)
{
    put(p, "  %-13s", title);
    for (size_t i = 0; i < count; i++)
        put(p, "%s%s", i ? "; " : "", text_or(lines[i], ""));
    put(p, "%s\n", count ? "" : "nothing");
}

static void put_claim(struct page *p, const struct verify_report *r, const char *guarantee)
{
    if (strcmp(guarantee, "none") == 0) {
        put(p, "  %-13snone: noise was seeded\n", "claim");
        return;
    }
    put(p, "  %-13s", "claim");
    if (isnan(r->upper))
        put(p, "no finite epsilon");
    else
        put(p, "epsilon %.6g", r->upper);
    put(p, " at delta %g, %s adjacency (%s, scale %.6g)\n", r->delta, text_or(r->adjacency, "unknown"),
        text_or(r->mechanism, "unknown"), r->scale);
}

static void put_report(struct page *p, const struct verify_report *r)
{
    const char *guarantee = text_or(r->guarantee, "none");
    bool proved = strcmp(guarantee, "proved") == 0;
    put(p, "%s: %s%s\n", text_or(r->certificate, "certificate"),
        r->valid ? "consistent, NOT signed" : "does NOT verify: ",
        r->valid ? "" : text_or(r->failed, "a check failed"));
    put_claim(p, r, guarantee);
    put(p, "  %-13s%s\n", "proved",
        proved ? "sensitivity and account, for training by the stated recipe" : "none");
    put(p, "  %-13s%s%s\n", "conditional", r->condition ? "on " : "", text_or(r->condition, "nothing"));
    put(p, "  %-13s%s\n", "measured", text_or(r->measured, "nothing"));
    put_list(p, "checked", r->checked, r->checked_count);
    put_list(p, "not checked", r->open, r->open_count);
    put(p,
        "  %-13snone: all checks also pass for a file, certificate and ledger that were changed together\n",
        "signature");
}

sotto_status sotto_verify_text(char **text, const char *report)
{
    sotto_status status = SOTTO_OK;
    struct verify_report r = {.valid = false};
    struct page p = {NULL, 0, 0};
    TRY(verify_report_decode(&r, report));
    put_report(&p, &r);
    p.capacity = p.used + 1;
    p.used = 0;
    p.text = base_alloc(p.capacity, 1);
    if (!p.text)
        FAIL(SOTTO_ENOMEM, "report: out of memory");
    put_report(&p, &r);
    *text = p.text;
done:
    verify_report_free(&r);
    return status;
}
