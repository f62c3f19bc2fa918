/* A served model for the tests of --target-command: answers .npy frames of f4 rows on stdin with .npy frames
 * on stdout, or fails in a way of its own.
 *
 *     serve_model softmax CLASSES        posterior k of row x: softmax of sum_j x_j sin(1 + k + 3 j)
 *     serve_model labels CLASSES         only the class, i8
 *     serve_model FAULT CLASSES [FILE]   one of the faults below
 *
 * Uses nothing of sotto, so that both sides of the format are written twice. */
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void must(int fine)
{
    if (!fine)
        exit(9);
}

/* 0: end of input. Frames are version 1.0 f4 (n, d), as sotto sends them. */
static int read_frame(float **rows, size_t *n, size_t *d)
{
    unsigned char head[10];
    char text[65536], *shape;
    if (fread(head, 1, 10, stdin) != 10)
        return 0;
    must(memcmp(head, "\x93NUMPY\x01\x00", 8) == 0);
    size_t length = head[8] | (size_t)head[9] << 8;
    must(fread(text, 1, length, stdin) == length && length < sizeof text);
    text[length] = '\0';
    must(strstr(text, "'<f4'") && strstr(text, "'fortran_order': False") && (10 + length) % 64 == 0);
    must((shape = strstr(text, "'shape': (")) && sscanf(shape, "'shape': (%zu, %zu)", n, d) == 2);
    *rows = realloc(*rows, *n * *d * sizeof **rows);
    must(fread(*rows, sizeof **rows, *n * *d, stdin) == *n * *d);
    return 1;
}

static void write_head(const char *type, const char *shape)
{
    char text[128];
    size_t used = (size_t)snprintf(text, sizeof text,
                                   "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type, shape);
    while ((10 + used + 1) % 64)
        text[used++] = ' ';
    text[used++] = '\n';
    fwrite("\x93NUMPY\x01", 1, 7, stdout);
    putchar(0);
    putchar((int)(used & 255));
    putchar((int)(used >> 8));
    fwrite(text, 1, used, stdout);
}

static void posterior(float *p, const float *x, size_t d, size_t classes)
{
    double sum = 0, most = -INFINITY, z[64];
    must(classes <= 64);
    for (size_t k = 0; k < classes; k++) {
        z[k] = 0;
        for (size_t j = 0; j < d; j++)
            z[k] += (double)x[j] * sin(1 + (double)k + 3 * (double)j);
        most = fmax(most, z[k]);
    }
    for (size_t k = 0; k < classes; k++)
        sum += z[k] = exp(z[k] - most);
    for (size_t k = 0; k < classes; k++)
        p[k] = (float)(z[k] / sum);
}

static void answer(const float *rows, size_t n, size_t d, size_t classes, const char *mode)
{
    char shape[64];
    size_t shown = strcmp(mode, "rows") == 0 ? n - 1 : n,
           wide = strcmp(mode, "classes") == 0 ? classes + 1 : classes;
    int label = strcmp(mode, "labels") == 0;
    snprintf(shape, sizeof shape, label ? "%zu," : "%zu, %zu", shown,
             strcmp(mode, "huge") == 0 ? (size_t)1 << 40 : wide);
    write_head(label ? "<i8" : strcmp(mode, "type") == 0 ? "<i4" : "<f4", shape);
    for (size_t i = 0; i < shown; i++) {
        float p[65] = {0};
        posterior(p, rows + i * d, d, classes);
        int64_t best = 0;
        for (size_t k = 1; k < classes; k++)
            best = p[k] > p[best] ? (int64_t)k : best;
        if (strcmp(mode, "nan") == 0 && i == 1)
            p[1] = NAN;
        for (size_t k = 0; strcmp(mode, "logits") == 0 && k < classes; k++)
            p[k] = 3;
        if (label)
            fwrite(&best, sizeof best, 1, stdout);
        else
            fwrite(p, sizeof *p, wide, stdout);
        if (strcmp(mode, "slow") == 0) {
            fflush(stdout);
            usleep(2000);
        }
        if (strcmp(mode, "cut") == 0 && i == n / 2)
            exit(0);
    }
}

static void misbehave(const char *mode, const char *file, size_t frame)
{
    if (strcmp(mode, "hang") == 0)
        for (;;)
            pause();
    if (strcmp(mode, "die") == 0)
        exit(3);
    if (strcmp(mode, "die-later") == 0 && frame == 2)
        exit(4);
    if (strcmp(mode, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(mode, "garbage") == 0)
        puts("epoch 1, loss 0.31");
    if (strcmp(mode, "grandchild") == 0) { /* leaves a process behind that holds the pipes */
        pid_t pid = fork();
        if (pid == 0)
            for (;;)
                pause();
        FILE *f = fopen(file, "w");
        must(f && fprintf(f, "%d\n", (int)pid) > 0 && fclose(f) == 0);
        for (;;)
            pause();
    }
}

int main(int argc, char **argv)
{
    float *rows = NULL;
    size_t n, d, frame = 0;
    must(argc >= 3);
    const char *mode = argv[1];
    size_t classes = (size_t)atoi(argv[2]);
    if (strcmp(mode, "deaf") == 0) { /* never reads, closes its input */
        fclose(stdin);
        for (;;)
            pause();
    }
    if (strcmp(mode, "banner") == 0) {
        puts("model loaded");
        fflush(stdout);
    }
    while (read_frame(&rows, &n, &d)) {
        misbehave(mode, argc > 3 ? argv[3] : "", ++frame);
        answer(rows, n, d, classes, mode);
        if (strcmp(mode, "twice") == 0)
            answer(rows, n, d, classes, mode);
        fflush(stdout);
    }
    free(rows);
    return strcmp(mode, "bad-end") == 0 ? 5 : 0;
}
