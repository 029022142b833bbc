// A thread uses what its creator stores only after it was created.
// With `fixed` it is stored before.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

struct worker {
    pthread_t thread;
    const char *name;
};

static struct worker worker;

static void *work(void *argument) {
    struct worker *self = argument;
    assert(self->name != NULL);
    return NULL;
}

int main(int count, char **arguments) {
    (void)arguments;
    if (count > 1) worker.name = "worker";
    pthread_create(&worker.thread, NULL, work, &worker);
    if (count <= 1) worker.name = "worker";
    pthread_join(worker.thread, NULL);
    return 0;
}
