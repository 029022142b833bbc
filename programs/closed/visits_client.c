// Asks the same question twice and expects the same answer. `once`: asks once.
#include "sockets.h"
#include <assert.h>
#include <string.h>

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: visits_client PORT [once]\n");
        return 2;
    }
    int is_once = argc > 2 && strcmp(argv[2], "once") == 0;
    int server = connected(atoi(argv[1]));
    say(server, 'a');
    assert(hear(server) == 'b');
    if (!is_once) {
        say(server, 'a');
        assert(hear(server) == 'b');
    }
    close(server);
    return 0;
}
