#include "head/kernel/head_linear.h"

#include "head/kernel/head_kernels.h"

/* As many records as half a first-level cache holds. */
static size_t block_of(size_t stride)
{
    size_t most = 32768 / sizeof(float) / stride / HEAD_PAD * HEAD_PAD;
    return most < HEAD_PAD ? HEAD_PAD : most > 2 * (size_t)HEAD_PAD ? 2 * (size_t)HEAD_PAD : most;
}

void head_linear_layout(struct linear_scratch *s, struct arena *memory, size_t in, size_t out)
{
    s->stride = head_padded(in);
    s->ld = head_padded(out);
    s->block = block_of(s->stride);
    s->x = arena_take(memory, s->block * s->stride, sizeof *s->x);
    s->logits = arena_take(memory, HEAD_PAD * s->ld, sizeof *s->logits);
    s->softmax = arena_take(memory, out * HEAD_PAD, sizeof *s->softmax);
    s->diff = arena_take(memory, s->block * out, sizeof *s->diff);
    s->product = arena_take(memory, out * s->stride, sizeof *s->product);
    s->bias = arena_take(memory, out * HEAD_PAD, sizeof *s->bias);
}
