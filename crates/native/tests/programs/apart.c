// Two pairs of threads that have nothing to do with each other: each pair takes turns by a condition
// variable and hands blocks of memory over. Only one thread writes to standard output.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pair {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int turn;
    char *text;
};

static struct pair pairs[2];

static void *run(void *argument) {
    long me = (long)argument;
    struct pair *pair = &pairs[me / 2];
    int mine = (int)(me % 2);
    char *kept = NULL;
    for (int round = 0; round < 3; round++) {
        kept = realloc(kept, 40 * (size_t)(round + 1) * (size_t)(me + 1));
        snprintf(kept, 40, "%ld: %f", me, round / 3.0);
        pthread_mutex_lock(&pair->mutex);
        while (pair->turn != mine) pthread_cond_wait(&pair->changed, &pair->mutex);
        free(pair->text);
        pair->text = strdup(kept);
        pair->turn = !mine;
        pthread_cond_signal(&pair->changed);
        pthread_mutex_unlock(&pair->mutex);
        if (me == 0) {
            printf("%s\n", kept);
            fflush(stdout);
        }
    }
    free(kept);
    return NULL;
}

int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 2; i++) {
        pthread_mutex_init(&pairs[i].mutex, NULL);
        pthread_cond_init(&pairs[i].changed, NULL);
    }
    for (long i = 0; i < 4; i++) pthread_create(&threads[i], NULL, run, (void *)i);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    return 0;
}
