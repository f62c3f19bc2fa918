/* A report for people. One word for each rank of trust; a good end is "consistent", and never more. */
#include "base/memory.h"
#include "dp/certificate/condition_words.h"
#include "dp/release/verification.h"
#include "io/text/number.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct page {
    char *text;
    size_t used, capacity; /* measured first, with text NULL */
};

static void verify_text_put(struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void verify_text_put(struct page *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length =
        vsnprintf(p->text ? p->text + p->used : NULL, p->text ? p->capacity - p->used : 0, format, args);
    va_end(args);
    p->used += length > 0 ? (size_t)length : 0;
}

static void put_claim(struct page *p, const struct sotto_verification *v)
{
    if (v->guarantee == SOTTO_GUARANTEE_NONE) {
        verify_text_put(p, "  %-13snone: noise was seeded\n", "claim");
        return;
    }
    char most[NUMBER_TEXT];
    verify_text_put(p, "  %-13s", "claim");
    if (isinf(v->epsilon.upper))
        verify_text_put(p, "no finite epsilon");
    else
        verify_text_put(p, "epsilon %s", number_text_up(most, v->epsilon.upper, 6));
    verify_text_put(p, " at delta %g, %s adjacency (%s, scale %.6g)\n", v->delta, v->adjacency, v->mechanism,
                    v->scale);
    verify_text_put(p, "  %-13sof privacy: %s\n", "unit", v->unit);
}

static void put_checked(struct page *p, const struct sotto_verification *v)
{
    verify_text_put(p, "  %-13s", "checked");
    for (size_t i = 0; i < v->checked_count; i++)
        verify_text_put(p, "%s%s", i ? "; " : "", v->checked[i]);
    verify_text_put(p, "%s\n", v->checked_count ? "" : "nothing");
}

static void put_not_checked(struct page *p, const struct sotto_verification *v)
{
    const char *between = "";
    verify_text_put(p, "  %-13s", "not checked");
    for (size_t i = 0; i < v->check_count; i++)
        if (v->checks[i].outcome == SOTTO_VERIFY_NOT_MADE) {
            verify_text_put(p, "%s%s", between, v->checks[i].text);
            between = "; ";
        }
    verify_text_put(p, "%s\n", between[0] ? "" : "nothing");
}

const char *verification_proved(const struct sotto_verification *v)
{
    const char *from = NULL;
    for (size_t i = 0; i < v->check_count; i++)
        if (strcmp(v->checks[i].name, VERIFY_DERIVED) == 0)
            from = v->checks[i].text;
    if (v->failed || v->undecided || v->guarantee == SOTTO_GUARANTEE_NONE)
        return "none";
    if (v->guarantee == SOTTO_GUARANTEE_PROVED)
        return !from || strcmp(from, VERIFY_BY_RECIPE) == 0 ? "sensitivity and account, for " VERIFY_BY_RECIPE
               : strcmp(from, VERIFY_BY_STATISTIC) == 0 ? "sensitivity and account, for " VERIFY_BY_STATISTIC
               : strcmp(from, VERIFY_BY_QUERIES) == 0   ? "sensitivity and account, for " VERIFY_BY_QUERIES
                                                        : "sensitivity and account, for " VERIFY_BY_LABELS;
    return v->condition && strcmp(v->condition, VERIFY_NOT_DERIVED) == 0
               ? "the account alone, for noise of that scale and the stated sensitivity"
               : "none";
}

static void put_conditions(struct page *p, const struct sotto_verification *v)
{
    char sentence[CONDITION_SENTENCE];
    const char *conditions = v->condition;
    verify_text_put(p, "  %-13s%s", "conditional", conditions ? "only if all of this is true:" : "nothing");
    while (condition_next(sentence, &conditions))
        verify_text_put(p, " %s", sentence);
    verify_text_put(p, "\n");
}

/* The rest of what does not verify is worth no more than what failed, so nothing else is said. */
static void put_failures(struct page *p, const struct sotto_verification *v)
{
    size_t failed = 0;
    verify_text_put(p, "%s: does NOT verify: %s\n", v->certificate, v->failed);
    for (size_t i = 0; i < v->check_count; i++)
        if (v->checks[i].outcome == SOTTO_VERIFY_FAILED && failed++ > 0)
            verify_text_put(p, "  %-13s%s: %s\n", "failed too", v->checks[i].name, v->checks[i].text);
}

static void put_report(struct page *p, const struct sotto_verification *v)
{
    if (v->failed) {
        put_failures(p, v);
        return;
    }
    verify_text_put(p, "%s: %s%s\n", v->certificate,
                    v->undecided   ? "NOT decided: "
                    : v->signed_by ? "consistent, signed"
                                   : "consistent, NOT signed",
                    v->undecided ? v->undecided : "");
    put_claim(p, v);
    verify_text_put(p, "  %-13s%s\n", "proved", verification_proved(v));
    put_conditions(p, v);
    verify_text_put(p, "  %-13s%s\n", "measured", v->measured ? v->measured : "nothing");
    put_checked(p, v);
    put_not_checked(p, v);
    if (v->signed_by)
        verify_text_put(p, "  %-13svalid, by key %s: worth as much as you know of that key\n", "signature",
                        v->signed_by);
    else
        verify_text_put(
            p,
            "  %-13snone: all checks also pass for a file, certificate and ledger that were changed "
            "together\n",
            "signature");
}

sotto_status sotto_verification_text(char **text, const struct sotto_verification *v)
{
    REQUIRE_GIVEN(text, v);
    struct page p = {NULL, 0, 0};
    put_report(&p, v);
    p.capacity = p.used + 1;
    p.used = 0;
    p.text = base_alloc(p.capacity, 1);
    if (!p.text)
        return status_fail(SOTTO_ENOMEM, "verification: out of memory");
    put_report(&p, v);
    *text = p.text;
    return SOTTO_OK;
}
