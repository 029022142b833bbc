// Two threads that write a letter each: to standard output, or to a file if there is an argument.
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t mutexes[2];
static int output = 1;

static void *run(void *argument) {
    long me = (long)argument;
    pthread_mutex_lock(&mutexes[me]);
    if (write(output, me ? "b" : "a", 1) != 1) return &output;
    pthread_mutex_unlock(&mutexes[me]);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[2];
    if (argc > 1) output = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, run, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
