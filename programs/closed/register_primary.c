// A register that is kept twice: this is the primary. It stores what clients write, hands it on to
// the backup, and acknowledges it. `fenced`: only once the backup has taken it.
#include "sockets.h"
#include <string.h>

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: register_primary PORT BACKUP_PORT [fenced]\n");
        return 2;
    }
    int is_fenced = argc > 3 && strcmp(argv[3], "fenced") == 0;
    int listener = listening(atoi(argv[1]));
    int backup = connected(atoi(argv[2]));
    int client = accepted(listener);
    char value = hear(client);
    say(backup, value);
    // A backup that has taken over says no, and whoever is no primary acknowledges nothing.
    char answer = is_fenced ? hear(backup) : 'y';
    say(client, answer == 'y' ? 'y' : 'n');
    close(client);
    close(backup);
    close(listener);
    return 0;
}
