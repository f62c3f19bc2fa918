/* base.h - status codes, error text, and the context that long calls report to.
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

/** What went wrong, by kind. Numbers are part of the ABI. The program maps them to exit codes (sysexits). */
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
    SOTTO_EAGAIN = 10,    /**< somebody else holds a lock; try later                   exit 75 */
    SOTTO_EBUDGET = 11,   /**< the privacy budget would be exceeded                    exit 77 */
    SOTTO_ECONFIG = 12,   /**< a configuration file is wrong                           exit 78 */
    SOTTO_EDOMAIN = 13,   /**< no finite answer exists for these parameters            exit 65 */
    SOTTO_EDIVERGED = 14, /**< training produced a NaN or an infinity                  exit 65 */
    SOTTO_ESTOPPED = 15,  /**< the context asked to stop; a checkpoint was written     exit 130/143 */
    SOTTO_EGATE = 16      /**< ran fine, but a check that was asked for failed         exit 1 */
} sotto_status;

/* Options and inputs: {0} means defaults. A member that is 0 or NULL is "not given" and stands for its default, which its
 * comment states as [value]; the call that takes the struct fills it in, in a copy of its own. Where 0 is another legal
 * value, it is stated by a mark: SOTTO_ZERO of a double, SOTTO_NONE of a count, SOTTO_SEED_ZERO of a seed. Each such struct
 * ends with zeros reserved for later members, so that {0} and designated initialisers keep their meaning. */
#define SOTTO_ZERO 4.9406564584124654e-324  /**< the double 0, where 0 would mean the default: 2^-1074 */
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

/** One line: what, where, expected, found. Valid until this thread's next failing sotto call. "" if none. */
SOTTO_API const char *sotto_error_text(void);
/** What to do about it, or "". Same lifetime. */
SOTTO_API const char *sotto_error_hint(void);
/** Short stable name of a status, e.g. "EFORMAT". */
SOTTO_API const char *sotto_status_name(sotto_status status);

enum sotto_log_level { SOTTO_LOG_DEBUG, SOTTO_LOG_INFO, SOTTO_LOG_WARNING };

/** Where a long call reports to and who may stop it. Every member is optional; a NULL context is allowed. */
struct sotto_context {
    int threads;                 /**< size of the OpenMP pool; 0: the CPUs this process may use */
    volatile sig_atomic_t *stop; /**< non-zero: finish the step, write a checkpoint, return ESTOPPED */
    void (*progress)(void *user, const char *stage, uint64_t done, uint64_t total, const char *unit);
    void (*log)(void *user, enum sotto_log_level level, const char *text);
    void *user;
};

/** "0.1.0". */
SOTTO_API const char *sotto_version(void);
/** One line for bug reports: version, instruction set of sotto's kernels, oneDNN and its instruction set,
 * OpenMP. Storage of the calling thread. */
SOTTO_API const char *sotto_version_line(void);
/** Checks SOTTO_ISA, which limits the instruction sets of sotto and of oneDNN to v2, v3, v4 or v4bf16. oneDNN
 * takes its limit when the library first looks for a backend and keeps it until the process ends. EUSAGE:
 * another value. The program asks at its start; a level above what the CPU has changes nothing. */
SOTTO_API sotto_status sotto_check_environment(void);

#ifdef __cplusplus
}
#endif
#endif
