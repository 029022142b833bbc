// Answers a number with ten times that number. `buggy`: a second thread changes the factor at some
// moment, so that the answer is sometimes another one.
#include "sockets.h"
#include <pthread.h>
#include <string.h>

static int factor = 10;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *retune(void *unused) {
    pthread_mutex_lock(&lock);
    factor = 11;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: times_ten_server PORT [buggy]\n");
        return 2;
    }
    int is_buggy = argc > 2 && strcmp(argv[2], "buggy") == 0;
    int listener = listening(atoi(argv[1]));
    pthread_t tuner;
    if (is_buggy) pthread_create(&tuner, NULL, retune, NULL);
    int client = accepted(listener);
    char number = hear(client);
    pthread_mutex_lock(&lock);
    int answer = number * factor;
    pthread_mutex_unlock(&lock);
    say(client, answer);
    if (is_buggy) pthread_join(tuner, NULL);
    close(client);
    close(listener);
    return 0;
}
