/* As little as can be scheduled: a thread, a mutex, some memory and a line of output. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void *work(void *argument) {
    int *memory = malloc(1000);
    *memory = 1;
    pthread_mutex_lock(&mutex);
    total += *memory;
    pthread_mutex_unlock(&mutex);
    free(memory);
    return argument;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, work, NULL);
    work(NULL);
    pthread_join(other, NULL);
    printf("%d\n", total);
    return total == 2 ? 0 : 1;
}
