// A list whose head is replaced by two threads, one of which forgets the old one if it comes second. With an
// argument: "kept" keeps what is left by a pointer into its middle, "buffered" leaves what libc allocates.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *head;
static char *volatile middle;
static int keeps;

static void *replace(void *forgets) {
    char *new = malloc(40);
    pthread_mutex_lock(&lock);
    char *old = head;
    head = new;
    if (keeps && old) middle = old + 20;
    pthread_mutex_unlock(&lock);
    if (!forgets && !keeps) free(old);
    return NULL;
}

int main(int count, char **arguments) {
    const char *how = count > 1 ? arguments[1] : "";
    keeps = !strcmp(how, "kept");
    if (!strcmp(how, "buffered")) {
        printf("some text\n");
        return 0;
    }
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, replace, NULL);
    pthread_create(&threads[1], NULL, replace, "forgets");
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
