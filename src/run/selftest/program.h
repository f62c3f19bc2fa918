/* program.h - the program as a black box: a command line runs in a folder of its own, and everything that it
 * printed and left behind is read as what an attacker sees. */
#ifndef SELFTEST_PROGRAM_H
#define SELFTEST_PROGRAM_H

#include "base/status.h"

#include <stdbool.h>
#include <sys/types.h>

enum { PROGRAM_PATH = 1024, OUTCOME_VALUES = 64 };

/** Starts `program` with the words of `line` in `folder`, which is made: standard output and error go to its
 * files `stdout` and `stderr`, ledgers and imported sets to its folder `home`, or sets to the folder `sets`
 * if that is not NULL. Behind "SLURM_JOB_END_TIME=1 " it runs in a job that stops it after a second. EIO, ENOMEM. */
sotto_status program_start(pid_t *process, const char *program, const char *line, const char *folder,
                           const char *sets);
/** Waits. *code: the exit code; 128 + the number of the signal that ended it. */
sotto_status program_end(int *code, pid_t process);

/** What a run left in its folder. */
struct outcome {
    char *facts; /* exit code, messages, and every file's name, size and contents, without times, hashes,
                    random names and the values of the noisy file; owned */
    double values[OUTCOME_VALUES]; /* of the noisy file: all, or the last so many */
    int width;                     /* how many; 0: the file is not there */
};
/** `noisy`: name of the file with noisy values (.npy, .safetensors, or JSON with noisy numbers), or
 * NULL. Of a folder `private` names are seen otherwise, and the contents of `private/protected`; of the folder `home`
 * names alone if it has_history, as its ledger lists new records. Free facts with outcome_clear(). EFORMAT, EIO, ENOMEM. */
sotto_status outcome_read(struct outcome *out, const char *folder, int code, const char *noisy,
                          bool has_history);
void outcome_clear(struct outcome *o);

/* What is read of a program's JSON files (selftest_json.c). */
/** Calls put(o, x) for every number of a document, in its order. ENOENT, EIO, EFORMAT, ENOMEM. */
sotto_status json_file_numbers(void (*put)(struct outcome *o, double x), struct outcome *o, const char *path);
/** The epsilon and delta of a certificate: proved, or conditional; NAN: it has none. */
sotto_status certificate_claim(double *epsilon, double *delta, const char *path);
/** The certificate proves nothing and has a conditional part. */
bool certificate_is_conditional(const char *path);
/** The first line in which they differ, in `text`; false: they are the same. */
bool outcome_differs(char *text, size_t capacity, const struct outcome *a, const struct outcome *b);

/** Removes a folder and everything in it. */
void folder_remove(const char *folder);

#endif
