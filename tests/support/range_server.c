/* range_server FOLDER LOG: prints its port, then serves until it is killed (see range_server.h). */
#include "support/range_server.h"

int main(int argc, char **argv)
{
    unsigned port;
    if (argc != 3)
        return 64;
    int fd = server_listen(&port);
    printf("%u\n", port);
    fflush(stdout);
    server_run(fd, argv[1], argv[2]);
    return 0;
}
