// A server that waits for clients, and threads that wait for it.
#include <arpa/inet.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t jobs;
static int work;
static const char *how;

static int is(const char *name) { return !strcmp(how, name); }

static void *worker(void *unused) {
    sigset_t set;
    int taken;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    if (is("semaphore"))
        sem_wait(&jobs);
    else if (is("signal"))
        sigwait(&set, &taken);
    else if (is("rwlock"))
        pthread_rwlock_rdlock(&rwlock);
    else if (is("barrier"))
        pthread_barrier_wait(&barrier);
    else {
        pthread_mutex_lock(&mutex);
        while (!work)
            pthread_cond_wait(&changed, &mutex);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(int argc, char **argv) {
    pthread_t threads[2];
    sigset_t set;
    how = argc > 1 ? argv[1] : "condition";
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    sem_init(&jobs, 0, 0);
    pthread_barrier_init(&barrier, NULL, 3);
    pthread_rwlock_wrlock(&rwlock);
    if (is("mutex"))
        pthread_mutex_lock(&mutex);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    if (is("alone"))
        pthread_join(threads[0], NULL);
    int server = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(7000)};
    if (bind(server, (struct sockaddr *)&address, sizeof address) || listen(server, 5))
        return 1;
    accept(server, NULL, NULL);
    return 0;
}
