/* The main of all test programs (test.h). Each group runs in a process of its own, so that no group sees what another left
 * behind. A test that ends its process is a failure, and the tests behind it run in the next process. */
#include "support/test.h"
#include "support/effort.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern const struct test *const __start_sotto_tests[], *const __stop_sotto_tests[];
extern const struct test_group *const __start_sotto_groups[] __attribute__((weak)),
    *const __stop_sotto_groups[] __attribute__((weak));

static const char help[] = "usage: %s [OPTION]...\n"
                           "  --only GROUP[.TEST]  this group or test; may be given again (default: all)\n"
                           "  --tag TAG            groups with this tag only\n"
                           "  --shard K/N          of each group every Nth test, from the Kth on\n"
                           "  --each               each test in a process of its own\n"
                           "  --shuffle SEED       groups, and the tests of each, in random order\n"
                           "  --list               names of the tests, one a line; nothing runs\n"
                           "SOTTO_EFFORT is 1 (default), 5 or 50.\n";

/* What the process of a group tells the one that watches it. */
struct progress {
    int turn;   /* of next() */
    long at;    /* the test that runs, from 0; -1: none has begun */
    bool over;  /* all ran */
    int failed; /* tests, and fixtures of the group */
};

static struct progress *progress;
static const struct test **tests; /* all, by file and line */
static size_t test_count;
static const char **wanted; /* --only */
static int wanted_count;
static bool each;

/* ".../test_ledger.c" is "ledger". */
static void group_name(char name[64], const char *file)
{
    const char *base = strrchr(file, '/');
    base = base ? base + 1 : file;
    base += strncmp(base, "test_", 5) == 0 ? 5 : 0;
    snprintf(name, 64, "%.*s", (int)strcspn(base, "."), base);
}

static const struct test_group *group_of(const char *file)
{
    static const struct test_group plain;
    for (const struct test_group *const *g = __start_sotto_groups; g < __stop_sotto_groups; g++)
        if (strcmp((*g)->file, file) == 0)
            return *g;
    return &plain;
}

static bool is_wanted(const struct test *t)
{
    char name[64];
    group_name(name, t->file);
    const size_t length = strlen(name);
    for (int i = 0; i < wanted_count; i++)
        if (strncmp(wanted[i], name, length) == 0 &&
            (!wanted[i][length] ||
             (wanted[i][length] == '.' && strcmp(wanted[i] + length + 1, t->name) == 0)))
            return true;
    return wanted_count == 0;
}

static bool has_tag(const struct test_group *g, const char *tag)
{
    const size_t length = strlen(tag);
    for (const char *at = g->tags; at; at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL)
        if (strncmp(at, tag, length) == 0 && (!at[length] || at[length] == ' '))
            return true;
    return false;
}

static int by_place(const void *a, const void *b)
{
    const struct test *x = *(const struct test *const *)a, *y = *(const struct test *const *)b;
    const int files = strcmp(x->file, y->file);
    return files                ? files
           : x->line != y->line ? (x->line > y->line) - (x->line < y->line)
                                : strcmp(x->name, y->name);
}

static size_t group_length(const struct test *const *first, size_t left)
{
    size_t n = 1;
    while (n < left && strcmp(first[n]->file, first[0]->file) == 0)
        n++;
    return n;
}

static uint64_t shuffle_word(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    return z ^ (z >> 31);
}

static void shuffle(const struct test **list, size_t n, uint64_t *state)
{
    for (size_t i = n; i > 1; i--) {
        const size_t j = shuffle_word(state) % i;
        const struct test *t = list[i - 1];
        list[i - 1] = list[j];
        list[j] = t;
    }
}

/* Groups in random order, and the tests within each. */
static void shuffle_all(uint64_t seed)
{
    const struct test **groups = malloc(test_count * sizeof *groups),
                      **out = malloc(test_count * sizeof *out);
    size_t count = 0, filled = 0;
    for (size_t i = 0; i < test_count; i += group_length(tests + i, test_count - i))
        groups[count++] = tests[i];
    shuffle(groups, count, &seed);
    for (size_t g = 0; g < count; g++) {
        size_t first = 0;
        while (tests[first] != groups[g])
            first++;
        const size_t n = group_length(tests + first, test_count - first);
        memcpy(out + filled, tests + first, n * sizeof *out);
        shuffle(out + filled, n, &seed);
        filled += n;
    }
    memcpy(tests, out, test_count * sizeof *out);
    free(groups);
    free(out);
}

/* Around each test: the watching process learns how far this one got. */
static const struct test *running;

static int begin_test(void **state)
{
    running = *state;
    progress->at = 0;
    while (tests[progress->at] != running)
        progress->at++;
    *state = NULL;
    int (*before)(void **) = running->before ? running->before : group_of(running->file)->before;
    return before ? before(state) : 0;
}

static int end_test(void **state)
{
    int (*after)(void **) = running->after ? running->after : group_of(running->file)->after;
    return after ? after(state) : 0;
}

/* In the process of a group: its tests first to end, from the given turn on. */
static void run_range(long first, long from, long end, int turn)
{
    char name[64];
    const struct test_group *g = group_of(tests[first]->file);
    struct CMUnitTest *rows = calloc((size_t)(end - first), sizeof *rows);
    for (long i = first; i < end; i++)
        rows[i - first] = (struct CMUnitTest){tests[i]->name, tests[i]->run, begin_test, end_test,
                                              (void *)(uintptr_t)tests[i]};
    group_name(name, tests[first]->file);
    if (g->start)
        g->start();
    for (progress->turn = 0; g->next ? g->next() : progress->turn == 0; progress->turn++) {
        if (progress->turn < turn)
            continue;
        const long skipped = progress->turn == turn ? from - first : 0;
        progress->at = -1;
        if (first + skipped < end)
            progress->failed += _cmocka_run_group_tests(name, rows + skipped, (size_t)(end - first - skipped),
                                                        g->set_up, g->tear_down);
    }
    free(rows);
    progress->over = true;
}

/* Why a process ended, in words. */
static void print_end(int status)
{
    if (WIFSIGNALED(status))
        fprintf(stderr, "its process died of signal %d (%s)\n", WTERMSIG(status),
                strsignal(WTERMSIG(status)));
    else
        fprintf(stderr, "its process ended with exit code %d\n", WEXITSTATUS(status));
}

/* Runs tests first to end, which are of one group, and behind a test that ends the process those that follow it. Returns
 * how many failed. */
static int watch_range(long first, long end)
{
    int failed = 0, turn = 0;
    for (long from = first; from < end;) {
        *progress = (struct progress){.at = -1, .turn = turn};
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            run_range(first, from, end, turn);
            exit(progress->failed ? 1 : 0);
        }
        int status;
        if (child < 0 || (waitpid(child, &status, 0) < 0)) {
            perror("a process for tests");
            exit(2);
        }
        failed += progress->failed;
        if (progress->over) {
            if (status && !progress->failed) { /* a sanitizer speaks when the process ends */
                fprintf(stderr, "after %s: ", tests[first]->file);
                print_end(status);
                failed++;
            }
            return failed;
        }
        failed++;
        fprintf(stderr, "%s: %s: ", tests[first]->file,
                progress->at < 0 ? "set-up of the group" : tests[progress->at]->name);
        print_end(status);
        if (progress->at < 0)
            return failed;
        from = progress->at + 1;
        turn = progress->turn;
        if (from == end) { /* the next turn begins with the first */
            if (!group_of(tests[first]->file)->next)
                return failed;
            from = first;
            turn++;
        }
    }
    return failed;
}

static void select_tests(const char *tag)
{
    const size_t all = (size_t)(__stop_sotto_tests - __start_sotto_tests);
    tests = malloc((all + 1) * sizeof *tests);
    for (size_t i = 0; i < all; i++)
        if (is_wanted(__start_sotto_tests[i]) &&
            (!tag || has_tag(group_of(__start_sotto_tests[i]->file), tag)))
            tests[test_count++] = __start_sotto_tests[i];
    qsort(tests, test_count, sizeof *tests, by_place);
}

/* "K/N": of each group every Nth test, from the Kth on. Whether the text is that. */
static bool take_shard(const char *text)
{
    size_t k, n, kept = 0, place = 0;
    const char *file = NULL;
    char more;
    if (sscanf(text, "%zu/%zu%c", &k, &n, &more) != 2 || k < 1 || k > n)
        return false;
    for (size_t i = 0; i < test_count; i++) {
        place = file && strcmp(tests[i]->file, file) == 0 ? place + 1 : 0;
        file = tests[i]->file;
        if (place % n == k - 1)
            tests[kept++] = tests[i];
    }
    test_count = kept;
    return true;
}

static int usage(const char *program, const char *problem)
{
    fprintf(stderr, "%s: %s; '%s --help' lists the options\n", program, problem, program);
    return 2;
}

int main(int argc, char **argv)
{
    const char *tag = NULL, *seed = NULL, *shard = NULL;
    bool list = false;
    wanted = calloc((size_t)argc, sizeof *wanted);
    for (int i = 1; i < argc; i++) {
        const bool value = i + 1 < argc;
        if (strcmp(argv[i], "--only") == 0 && value)
            wanted[wanted_count++] = argv[++i];
        else if (strcmp(argv[i], "--tag") == 0 && value)
            tag = argv[++i];
        else if (strcmp(argv[i], "--shuffle") == 0 && value)
            seed = argv[++i];
        else if (strcmp(argv[i], "--shard") == 0 && value)
            shard = argv[++i];
        else if (strcmp(argv[i], "--each") == 0)
            each = true;
        else if (strcmp(argv[i], "--list") == 0)
            list = true;
        else if (strcmp(argv[i], "--help") == 0)
            return printf(help, argv[0]) < 0;
        else
            return usage(argv[0], "unknown option, or an option without its value");
    }
    effort(); /* refused here if it is none */
    select_tests(tag);
    if (shard && !take_shard(shard))
        return usage(argv[0], "--shard needs K/N, K from 1 to N");
    if (!test_count)
        return usage(argv[0], "no test has this name or tag");
    if (seed)
        shuffle_all(strtoull(seed, NULL, 10));
    progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int failed = 0, ran = 0;
    for (size_t i = 0, n; i < test_count; i += n) {
        char name[64];
        group_name(name, tests[i]->file);
        n = group_length(tests + i, test_count - i);
        for (size_t k = i; list && k < i + n; k++)
            printf("%s.%s\n", name, tests[k]->name);
        if (list)
            continue;
        const struct test_group *g = group_of(tests[i]->file);
        const char *why = g->absent ? g->absent() : NULL;
        if (why) {
            printf("%s: skipped: %s\n", name, why);
            continue;
        }
        ran++;
        int here = 0;
        for (size_t k = i; k < i + n; k += each ? 1 : n)
            here += watch_range((long)k, (long)(each ? k + 1 : i + n));
        if (here)
            fprintf(stderr, "%s: failed; again: SOTTO_EFFORT=%d %s --only %s%s%s\n", name, effort(), argv[0],
                    name, seed ? " --shuffle " : "", seed ? seed : "");
        failed += here;
    }
    free(tests);
    free(wanted);
    return failed ? 1 : ran || list ? 0 : 77; /* 77: all were skipped */
}
