// A work-stealing queue whose owner takes from the tail without a lock, after it has looked whether
// something is left, while a thief takes from the head: the last task is taken twice.
// With `fixed` the owner locks, too.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

enum { SIZE = 4 };

struct queue {
    pthread_mutex_t lock;
    int head, tail;
    int tasks[SIZE];
};

static struct queue queue = {.lock = PTHREAD_MUTEX_INITIALIZER};
static int done[SIZE];
static int fixed;

static int take(struct queue *from) {
    if (fixed) pthread_mutex_lock(&from->lock);
    int task = -1;
    if (from->head < from->tail) {
        from->tail = from->tail - 1;
        task = from->tasks[from->tail];
    }
    if (fixed) pthread_mutex_unlock(&from->lock);
    return task;
}

static int steal(struct queue *from) {
    int task = -1;
    pthread_mutex_lock(&from->lock);
    if (from->head < from->tail) {
        task = from->tasks[from->head];
        from->head = from->head + 1;
    }
    pthread_mutex_unlock(&from->lock);
    return task;
}

static void *thief(void *unused) {
    int task = steal(&queue);
    if (task >= 0) __atomic_fetch_add(&done[task], 1, __ATOMIC_SEQ_CST);
    return unused;
}

int main(int count, char **arguments) {
    (void)arguments;
    fixed = count > 1;
    queue.tasks[queue.tail++] = 0;
    pthread_t thread;
    pthread_create(&thread, NULL, thief, NULL);
    int task = take(&queue);
    if (task >= 0) __atomic_fetch_add(&done[task], 1, __ATOMIC_SEQ_CST);
    pthread_join(thread, NULL);
    assert(done[0] == 1);
    return 0;
}
