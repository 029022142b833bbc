// Answers how often it was asked: the same question gets another answer the second time.
#include "sockets.h"

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: visits_server PORT\n");
        return 2;
    }
    int listener = listening(atoi(argv[1]));
    int client = accepted(listener);
    for (char answer = 'b'; hear(client) == 'a'; answer++) say(client, answer);
    close(client);
    close(listener);
    return 0;
}
