/* machine.h - the dtype, backend and number of threads that a test runs with. Tests state them: what `auto`
 * means depends on the machine. A group of tests runs in f32 and, where this CPU has it, in bf16:
 *
 *     TEST_GROUP(.next = machine_next)
 *
 * or in f32 alone: TEST_GROUP(.start = machine_f32). Unless the environment says otherwise: oneDNN's direct sums (without
 * oneDNN the reference kernels) and two threads. tools/check-matrix sets SOTTO_TEST_DTYPE (this one only),
 * SOTTO_TEST_BACKEND and SOTTO_TEST_THREADS; nothing else in the tests reads them. */
#ifndef TESTS_MACHINE_H
#define TESTS_MACHINE_H

#include "nn/nn.h"
#include "par/par.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    int turn;                    /* of machine_next() */
    const char *dtype, *backend; /* as options name them */
    enum nn_dtype type;          /* the same, as plans take them */
    const struct nn_backend *kernels;
    struct sotto_context context; /* so many threads, nothing else */
} machine;

static inline const char *machine_asked(const char *variable, const char *fallback)
{
    const char *asked = getenv(variable);
    return asked && asked[0] ? asked : fallback;
}

static inline void machine_set(enum nn_dtype type)
{
    machine.type = type;
    machine.dtype = type == NN_BF16 ? "bf16" : "f32";
    machine.backend = machine_asked("SOTTO_TEST_BACKEND", "dnnl");
    if (nn_backend_find(&machine.kernels, machine.backend) != SOTTO_OK) {
        if (strcmp(machine.backend, "dnnl") != 0) {
            fprintf(stderr, "SOTTO_TEST_BACKEND: %s\n", sotto_error_text());
            exit(1);
        }
        machine.backend = "ref"; /* built without oneDNN */
        nn_backend_find(&machine.kernels, machine.backend);
    }
    machine.context.threads = atoi(machine_asked("SOTTO_TEST_THREADS", "2"));
    par_set_threads(machine.context.threads);
}

/* One thread, unless the environment says otherwise, for long trainings whose subject is not threads: those of oneDNN wait for each
 * other in a loop, which takes the time of other tests. Lasts until machine_set(). */
static inline void machine_one_thread(void)
{
    machine.context.threads = atoi(machine_asked("SOTTO_TEST_THREADS", "1"));
    par_set_threads(machine.context.threads);
}

static inline void machine_f32(void)
{
    machine_set(NN_F32);
}

/* The next dtype to test in; 0: no more. */
static inline int machine_next(void)
{
    while (machine.turn <= NN_BF16) {
        machine_set((enum nn_dtype)machine.turn++);
        if (strcmp(machine.dtype, machine_asked("SOTTO_TEST_DTYPE", machine.dtype)) != 0)
            continue;
        int able = machine.type == NN_F32 || nn_backend_supports_bf16(machine.kernels);
        printf("%s%s, %s, %d threads\n", able ? "" : "skipped, no bf16 on this CPU: ", machine.dtype,
               nn_backend_title(machine.kernels), machine.context.threads);
        if (able)
            return 1;
    }
    return 0;
}

#endif
