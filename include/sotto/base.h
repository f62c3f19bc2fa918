/* base.h - status codes, error text, and the context of long calls.
 *
 * Argument order in every sotto header: handle; outputs; in/out; inputs, each length right after its array;
 * scalars and option structs; context. Outputs are untouched when a call fails. SPDX-License-Identifier: Apache-2.0 */
#ifndef SOTTO_BASE_H
#define SOTTO_BASE_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SOTTO_API __attribute__((visibility("default")))
#define SOTTO_MUST_CHECK __attribute__((warn_unused_result))

/* Pointers: one that is NULL is EINVAL, before anything else is read, unless the comment of the function says what NULL means.
 * Optional everywhere are contexts, structs of options and recipes (NULL: {0}), and arrays of length 0. Functions
 * without a status do nothing with NULL, and return 0, NULL, or NAN. */

/** What went wrong, by kind. Numbers are kept. The program maps them to exit codes (sysexits). */
typedef enum sotto_status {
    SOTTO_OK = 0,
    SOTTO_EUSAGE = 1,     /**< the call's own arguments contradict each other          exit 64 */
    SOTTO_EINVAL = 2,     /**< an argument or a value in the data is out of range      exit 65 */
    SOTTO_EFORMAT = 3,    /**< a file is damaged or of another format                  exit 65 */
    SOTTO_ENOENT = 4,     /**< an input does not exist or cannot be opened             exit 66 */
    SOTTO_ENOTSUP = 5,    /**< not built in, or not possible on this machine           exit 69 */
    SOTTO_EINTERNAL = 6,  /**< a bug in sotto                                          exit 70 */
    SOTTO_ENOMEM = 7,     /**< out of memory                                           exit 71 */
    SOTTO_ECREATE = 8,    /**< an output cannot be created                             exit 73 */
    SOTTO_EIO = 9,        /**< reading or writing failed half-way                      exit 74 */
    SOTTO_EAGAIN = 10,    /**< another process holds a lock; try later                 exit 75 */
    SOTTO_EBUDGET = 11,   /**< the privacy budget would be exceeded                    exit 77 */
    SOTTO_ECONFIG = 12,   /**< a configuration file is wrong                           exit 78 */
    SOTTO_EDOMAIN = 13,   /**< no finite answer exists for these parameters            exit 65 */
    SOTTO_EDIVERGED = 14, /**< training produced a NaN or an infinity                  exit 65 */
    SOTTO_ESTOPPED = 15,  /**< the context asked to stop                               exit 130/143 */
    SOTTO_EGATE = 16,     /**< ran fine, but a check that was asked for failed         exit 1 */
    SOTTO_ESTUCK = 17,    /**< resumed again and again without finishing one step      exit 70 */
    SOTTO_EUNDECIDED = 18 /**< no check failed, but one could not be decided here      exit 2 */
} sotto_status;

/* Options and inputs: {0} means defaults. A member that is 0 or NULL is "not given" and stands for its default, which its
 * comment states as [value]; the call that takes the struct fills it in, in a copy of its own. Where 0 is another legal
 * value, it is stated by a mark: SOTTO_ZERO of a double, SOTTO_NONE of a count, SOTTO_SEED_ZERO of a seed. A later version may
 * add members. Their default is 0 too, so {0} and designated initialisers keep their meaning. */
/** The double 0, where 0 would mean the default: 2^-1022, the smallest number that a program which flushes subnormal
 * numbers to 0 keeps. */
#define SOTTO_ZERO 2.2250738585072014e-308
#define SOTTO_NONE SIZE_MAX                 /**< the count 0, likewise */
#define SOTTO_SEED_ZERO ((uint64_t)1 << 63) /**< the seed 0, likewise; seeds are below 2^63 */
/** The same value as a given one: 0 becomes its mark. For values that are not known when the code is written. */
static inline double sotto_given_real(double x)
{
    return x == 0 ? SOTTO_ZERO : x;
}
static inline size_t sotto_given_count(size_t x)
{
    return x == 0 ? SOTTO_NONE : x;
}
static inline uint64_t sotto_given_seed(uint64_t x)
{
    return x == 0 ? SOTTO_SEED_ZERO : x;
}

/** Returns: one line about this thread's last failure: what, where, expected, found; "" if there was none.
 *  Valid until this thread's next failing sotto call. */
SOTTO_API const char *sotto_error_text(void);
/** Returns: one line about what to do, or "". Valid as long as sotto_error_text(). */
SOTTO_API const char *sotto_error_hint(void);
/** Which member of the caller's struct to change, so that a form can mark its field.
 *
 *  In:      nothing: this thread's last failure
 *  Out:     nothing
 *  Returns: the member that text or hint name first, "dataset_id" or "target.epsilon"; NULL: they name none, or nothing has failed.
 *           Valid as long as sotto_error_text() */
SOTTO_API const char *sotto_error_key(void);
/** Returns: the short stable name of a status, "EFORMAT" for instance; "unknown" for other numbers. */
SOTTO_API const char *sotto_status_name(sotto_status status);

enum sotto_log_level { SOTTO_LOG_DEBUG, SOTTO_LOG_INFO, SOTTO_LOG_WARNING };

/** A value of `stop`: a limit of time that was set before the call has run out. A private training that shows nothing of itself (no
 *  canary) then settles its last reservation in the ledger at the steps that it took, and the same call continues inside the budget.
 *  Never set it for another reason: a stop that may depend on what a run has shown pays for what was reserved (docs/PRIVACY.md). */
#define SOTTO_STOP_BY_TIME 1000

/** Processes that work on one call together (sotto/private/team.h). */
struct sotto_team;

/** Threads, reports and the wish to stop, for one call. Every member is optional, and so is the context (NULL).
 *
 *  Threads    progress() and log(), and the model of sotto_target_open_function(), are called from the thread that
 *             called sotto, never from another one and never two at a time. The call waits until they return.
 *             Calls leave the OpenMP settings of the calling thread (number of threads, dynamic, nested levels) as
 *             they found them.
 *  Stopping   All calls that have a context read `stop` at least every 0.2 s (on one core of a machine of 2020), except
 *             within one call of the caller's model function, and while a result, a checkpoint or an entry of a ledger is
 *             written and hashed: what was computed or charged is kept. The call then returns ESTOPPED and leaves no file
 *             half-written. A training with a checkpoint writes it first, and the same call continues from there. Steps
 *             that were charged to a ledger stay charged.
 *             Calls without a context end within 0.2 s, or pass over their arrays or their file once. */
struct sotto_context {
    /** Size of the OpenMP pool; 0: the CPUs this process may use. */
    int threads;
    /** Not 0: stop. A signal handler, a callback or another thread may set it. SOTTO_STOP_BY_TIME: see above. */
    volatile sig_atomic_t *stop;
    /** In: stage: of the work, for people; done of total, in units; total 0: unknown. */
    void (*progress)(void *user, const char *stage, uint64_t done, uint64_t total, const char *unit);
    /** In: text: one line. */
    void (*log)(void *user, enum sotto_log_level level, const char *text);
    /** First argument of both. */
    void *user;
    /** NULL: this process alone. Calls that do not say that they take a team refuse one (ENOTSUP). */
    const struct sotto_team *team;
};

/** A number and its interval, two-sided. */
struct sotto_estimate {
    double estimate, lower, upper;
};

/** Returns: the version of the library, "0.1.0". */
SOTTO_API const char *sotto_version(void);
/** Returns: one line for bug reports: version, instruction set of sotto's kernels, oneDNN and its instruction set,
 *  OpenMP. Storage of the calling thread. */
SOTTO_API const char *sotto_version_line(void);
/** Checks SOTTO_ISA in the environment, which limits the instruction sets of sotto and of oneDNN to v2, v3, v4 or
 *  v4bf16. oneDNN takes its limit when the library first looks for a backend and keeps it until the process ends. A
 *  level above that of the CPU changes nothing. The program calls this at its start.
 *
 *  Returns: EUSAGE  another value */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_check_environment(void);

/** Frees a text that a function of this library handed out. Accepts NULL. */
SOTTO_API void sotto_text_free(char *text);

#ifdef __cplusplus
}
#endif
#endif
