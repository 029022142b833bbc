// A driver that is unloaded while a request comes in. A request looks whether the driver stops and
// then enters; with the argument `fixed` it enters and then looks.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int inside = 1;
static bool stopping;
static atomic_int unloaded;
static sem_t empty;
static bool fixed;

static bool is_stopping(void) {
    pthread_mutex_lock(&lock);
    bool answer = stopping;
    pthread_mutex_unlock(&lock);
    return answer;
}

static void enter(void) {
    pthread_mutex_lock(&lock);
    inside++;
    pthread_mutex_unlock(&lock);
}

static void leave(void) {
    pthread_mutex_lock(&lock);
    bool last = --inside == 0;
    pthread_mutex_unlock(&lock);
    if (last) sem_post(&empty);
}

static void *unload(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    stopping = true;
    pthread_mutex_unlock(&lock);
    leave();
    sem_wait(&empty);
    atomic_store(&unloaded, 1);
    return NULL;
}

static void serve(void) {
    assert(!atomic_load(&unloaded) && "a request is served by a driver that is gone");
}

int main(int argc, char **argv) {
    (void)argv;
    fixed = argc > 1;
    sem_init(&empty, 0, 0);
    pthread_t administrator;
    pthread_create(&administrator, NULL, unload, NULL);
    if (fixed) {
        enter();
        if (!is_stopping()) serve();
        leave();
    } else if (!is_stopping()) {
        enter();
        serve();
        leave();
    }
    pthread_join(administrator, NULL);
    return 0;
}
