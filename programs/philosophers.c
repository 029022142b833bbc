// Dining philosophers: each takes the fork on its left, then the one on its right.
// With a second argument the last one takes them the other way round, and nobody starves.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int count;
static int fixed;
static pthread_mutex_t forks[16];

static void *dine(void *argument) {
    int i = (int)(long)argument;
    int first = i, second = (i + 1) % count;
    if (fixed && i == count - 1) {
        first = second;
        second = i;
    }
    pthread_mutex_lock(&forks[first]);
    pthread_mutex_lock(&forks[second]);
    printf("philosopher %d eats\n", i);
    pthread_mutex_unlock(&forks[second]);
    pthread_mutex_unlock(&forks[first]);
    return NULL;
}

int main(int argc, char **argv) {
    count = argc > 1 ? atoi(argv[1]) : 3;
    fixed = argc > 2;
    if (count < 2 || count > 16) {
        fprintf(stderr, "usage: philosophers [2..16] [fixed]\n");
        return 2;
    }
    pthread_t threads[16];
    for (int i = 0; i < count; i++) pthread_mutex_init(&forks[i], NULL);
    for (long i = 0; i < count; i++) pthread_create(&threads[i], NULL, dine, (void *)i);
    for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
    return 0;
}
