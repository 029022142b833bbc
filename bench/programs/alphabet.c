// The client of the alphabet protocol (Artho et al. 2009), with a stub in the same process instead
// of a network: each session has a producer, which sends numbers, and a consumer, which reads the
// letters that come back. A stream is a buffer and a semaphore that counts what can be read.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

enum { SESSIONS = 8, MESSAGES = 26 };

struct stream {
    sem_t readable;
    int sent, received;
    char bytes[MESSAGES];
};

static struct stream responses[SESSIONS];
static int sessions = 3, messages = 5;

// What the server would do with a request, as soon as it is written.
static void request(struct stream *stream, int number) {
    stream->bytes[stream->sent++] = (char)('a' + number);
    sem_post(&stream->readable);
}

static char response(struct stream *stream) {
    sem_wait(&stream->readable);
    return stream->bytes[stream->received++];
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
        sem_init(&responses[i].readable, 0, 0);
        pthread_create(&threads[2 * i], NULL, produce, &responses[i]);
        pthread_create(&threads[2 * i + 1], NULL, consume, &responses[i]);
    }
    for (int i = 0; i < 2 * sessions; i++) pthread_join(threads[i], NULL);
    return 0;
}
