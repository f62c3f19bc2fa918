/* message.h - what goes to a monitor: client lines and .npy frames, as they arrive through a pipe or lie in a log. The reader
 * is told where the next bytes go and how many, so it never takes a byte of the message that follows. */
#ifndef MONITOR_MESSAGE_H
#define MONITOR_MESSAGE_H

#include "io/array/npy_stream.h"

enum { CLIENT_NAME = 65, CLIENT_LINE = 7 + CLIENT_NAME }; /* "client " NAME "\n" */
enum message_kind { MESSAGE_NEW, MESSAGE_CLIENT, MESSAGE_FRAME };

struct message {
    enum message_kind kind;
    struct npy_stream frame;    /* of MESSAGE_FRAME; owned */
    char line[CLIENT_LINE + 1]; /* of MESSAGE_CLIENT; once it is complete, ends in '\0' instead of "\n" */
    size_t have;
    bool complete;
};
void message_begin(struct message *m, const char *name);
/* As npy_stream_room(): look at the shape of a frame once its header is known. *want 0: complete. */
sotto_status message_room(struct message *m, void **to, size_t *want);
/* EFORMAT: neither a client line nor a frame. */
sotto_status message_advance(struct message *m, size_t got);
size_t message_received(const struct message *m);
/* The name of a complete client line. */
const char *message_client(const struct message *m);
void message_clear(struct message *m);

/* 1 to 64 bytes of UTF-8 without control characters. */
bool client_name_good(const char *name);

#endif
