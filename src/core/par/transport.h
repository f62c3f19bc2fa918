/* transport.h - how bytes get from one process to another. One const struct each; the only one in the library has one rank,
 * others are plug-ins that the library loads (libsotto_mpi.so), so nothing of MPI is linked.
 *
 * Bytes only: a transport never adds anything up, as the order of every sum is ours (par/tree.h). */
#ifndef PAR_TRANSPORT_H
#define PAR_TRANSPORT_H

#include <stddef.h>

/* Grows with every change of the struct, as a plug-in may be older than the library. */
enum { TRANSPORT_ABI = 1, TRANSPORT_TEXT = 256 };

/** Functions return 0, or -1 with a reason in why. `link` is the transport's own state, of link_bytes, zeroed before start(). */
struct transport {
    int abi;
    size_t link_bytes;
    const char *name;
    /** communicator: the handle by which a program in Fortran knows its own; NULL: of all processes that were started together.
     *  Out: rank, size. */
    int (*start)(void *link, size_t *rank, size_t *size, const int *communicator, char why[TRANSPORT_TEXT]);
    /** Sends to one rank and receives from another (or the same) at once. */
    int (*exchange)(void *link, const void *send, size_t send_bytes, size_t to, void *receive,
                    size_t receive_bytes, size_t from, char why[TRANSPORT_TEXT]);
    /** Rank r has written counts[r] bytes at all + firsts[r]; afterwards all ranks have all of them. */
    int (*gather)(void *link, void *all, const size_t *counts, const size_t *firsts,
                  char why[TRANSPORT_TEXT]);
    int (*broadcast)(void *link, void *data, size_t bytes, size_t from, char why[TRANSPORT_TEXT]);
    /** After an error of the transport itself: ends all ranks. May return. */
    void (*abandon)(void *link, int exit_code);
    void (*stop)(void *link);
};

/** What a plug-in exports. */
#define TRANSPORT_SYMBOL "sotto_mpi_transport"

#endif
