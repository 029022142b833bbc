// A node that elects a leader with others, over UDP: all tell their number to all, and the highest
// wins. Then it tells whoever watches. `hasty`: decides after the first message.
#include "sockets.h"
#include <string.h>

static void tell(int from, int number, char what) {
    struct sockaddr_in address = port(number);
    must(sendto(from, &what, 1, 0, (struct sockaddr *)&address, sizeof address) == 1, "sendto");
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: election_node WATCH_PORT NUMBER NODES [hasty]\n");
        return 2;
    }
    int watch = atoi(argv[1]), me = atoi(argv[2]), nodes = atoi(argv[3]);
    int is_hasty = argc > 4 && strcmp(argv[4], "hasty") == 0;
    int mine = bound(SOCK_DGRAM, watch + me);
    for (int other = 1; other <= nodes; other++) {
        if (other != me) tell(mine, watch + other, me);
    }
    char highest = me;
    for (int heard = is_hasty ? nodes - 2 : 0; heard < nodes - 1; heard++) {
        char number = hear(mine);
        if (number > highest) highest = number;
    }
    tell(mine, watch, highest);
    // Others may still be telling us their numbers.
    for (int heard = nodes - 1; is_hasty && heard > 1; heard--) hear(mine);
    close(mine);
    return 0;
}
