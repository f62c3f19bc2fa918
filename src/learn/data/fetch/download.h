/* download.h - one file of known contents from the net: resumed, checked while it streams, there whole or not
 * at all. */
#ifndef DATA_FETCH_DOWNLOAD_H
#define DATA_FETCH_DOWNLOAD_H

#include "data/dataset.h"

#include <stdbool.h>

/** How often a broken connection is taken up again by itself, and the pause before each. */
struct download_patience {
    int tries;
    unsigned pause_ms;
};
extern const struct download_patience download_default_patience;

/** Gets `url` as folder/NAME. Bytes go to folder/NAME.part, which a later call continues; a file that is
 * there already is only checked. NULL patience: the default. EUSAGE: not https (http is for loopback and
 * where `plain_http` says so); EFORMAT: the wrong length or hash (nothing is left); EAGAIN: another process
 * is at it, or the server is out of reach; ENOENT; EIO; ECREATE; ESTOPPED. */
sotto_status download_file(const char *folder, const char *url, const struct remote_file *file,
                           bool plain_http, const struct download_patience *patience,
                           const struct sotto_context *ctx);
/** EUSAGE as above. */
sotto_status download_check_url(const char *url, bool plain_http);

#endif
