#include "attack/query/answer_metrics.h"

#include <math.h>

enum { MOST = 16 /* nats */ };

float answer_nats(float p)
{
    return -logf(fmaxf(p, 1.125e-7F)) / MOST;
}

void answer_metrics(float out[ANSWER_METRICS], const float *p, int64_t y, size_t classes)
{
    const float mean = 1 / (float)classes;
    float top = 0, squares = 0, entropy = 0, modified = 0;
    for (size_t k = 0; k < classes; k++) {
        top = fmaxf(top, p[k]);
        squares += (p[k] - mean) * (p[k] - mean);
        entropy += p[k] * answer_nats(p[k]);
        modified += (size_t)y == k ? (1 - p[k]) * answer_nats(p[k]) : p[k] * answer_nats(1 - p[k]);
    }
    out[0] = answer_nats(p[y]);
    out[1] = top;
    out[2] = sqrtf(squares * mean);
    out[3] = entropy * MOST / logf((float)classes);
    out[4] = modified;
}
