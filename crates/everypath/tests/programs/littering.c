/* Leaves files behind wherever it can; then ends as its argument says. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *argument) {
    for (int round = 0; round < 20; round++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

static void litter(const char *folder) {
    char path[400];
    snprintf(path, sizeof path, "%s/everypath-litter", folder);
    FILE *file = fopen(path, "w");
    if (file == NULL || fputs("litter", file) == EOF || fclose(file) != 0)
        abort();
}

int main(int count, char **arguments) {
    const char *ending = count > 1 ? arguments[1] : "success";
    litter(".");
    litter(getenv("TMPDIR"));
    litter("/dev/shm");
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    if (strcmp(ending, "violation") == 0)
        return 1;
    if (strcmp(ending, "inconclusive") == 0)
        fork();
    for (volatile int forever = strcmp(ending, "forever") == 0; forever;)
        ;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
