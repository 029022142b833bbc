// A thread accesses its own memory so often that not all of it can be recorded.
#include <pthread.h>
#include <stdlib.h>

enum { SIZE = 1 << 16, ROUNDS = 300 };

static void *computes(void *unused) {
    volatile int *numbers = calloc(SIZE, sizeof *numbers);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < SIZE; i++) numbers[i * 7 % SIZE] += numbers[i] + 1;
    free((void *)numbers);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, computes, 0);
    pthread_join(thread, 0);
}
