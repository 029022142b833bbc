// Hears whom each node has elected: all must agree.
#include "sockets.h"
#include <assert.h>

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: election_watch PORT NODES\n");
        return 2;
    }
    int mine = bound(SOCK_DGRAM, atoi(argv[1]));
    char leader = hear(mine);
    for (int heard = 1; heard < atoi(argv[2]); heard++) assert(hear(mine) == leader);
    close(mine);
    return 0;
}
