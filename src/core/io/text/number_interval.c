#include "io/text/number_interval.h"

#include "io/text/number.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct interval interval_read(const char *text)
{
    struct interval r = {-INFINITY, INFINITY, false, false};
    if (!text)
        return r;
    const char *comma = strchr(text, ',');
    size_t length = strlen(text);
    assert(comma && length >= 5);
    bool good = number_real(&r.low, text + 1, (size_t)(comma - text - 1)) &&
                number_real(&r.high, comma + 1, (size_t)(text + length - 1 - (comma + 1)));
    assert(good && "an interval is written like [1,inf)");
    (void)good;
    r.low_open = text[0] == '(';
    r.high_open = text[length - 1] == ')';
    return r;
}

bool interval_holds(const struct interval *r, double x)
{
    return (r->low_open ? x > r->low : x >= r->low) && (r->high_open ? x < r->high : x <= r->high);
}
