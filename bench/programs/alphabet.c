// The client of the alphabet protocol (Artho et al. 2009), with a stub in the same process instead
// of a network: each session has a producer, which sends numbers, and a consumer, which reads the
// letters that come back. A stream is a pipe into which the answers are written at once.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { SESSIONS = 8, MESSAGES = 26 };

static int streams[SESSIONS][2];
static int sessions = 3, messages = 5;

// What the server would do with a request, as soon as it is written.
static void request(int *stream, int number) {
    char letter = (char)('a' + number);
    assert(write(stream[1], &letter, 1) == 1);
}

static char response(int *stream) {
    char letter;
    assert(read(stream[0], &letter, 1) == 1);
    return letter;
}

static void *produce(void *stream) {
    for (int i = 0; i < messages; i++) request(stream, i);
    return NULL;
}

static void *consume(void *stream) {
    for (int i = 0; i < messages; i++) assert(response(stream) == 'a' + i);
    return NULL;
}

int main(int argc, char **argv) {
    if (argc > 1) sessions = atoi(argv[1]);
    if (argc > 2) messages = atoi(argv[2]);
    assert(sessions <= SESSIONS && messages <= MESSAGES);
    pthread_t threads[2 * SESSIONS];
    for (int i = 0; i < sessions; i++) {
        assert(pipe(streams[i]) == 0);
        pthread_create(&threads[2 * i], NULL, produce, streams[i]);
        pthread_create(&threads[2 * i + 1], NULL, consume, streams[i]);
    }
    for (int i = 0; i < 2 * sessions; i++) pthread_join(threads[i], NULL);
    return 0;
}
