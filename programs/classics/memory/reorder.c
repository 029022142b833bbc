// Setters write two variables that a checker expects to change together.
// With `fixed` a mutex makes both changes one.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static int a, b;
static int fixed;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void lock(void) { if (fixed) pthread_mutex_lock(&mutex); }
static void unlock(void) { if (fixed) pthread_mutex_unlock(&mutex); }

static void *set(void *unused) {
    lock();
    a = 1;
    __asm__ volatile("" : : : "memory");
    b = -1;
    unlock();
    return unused;
}

static void *check(void *unused) {
    lock();
    int first = a;
    __asm__ volatile("" : : : "memory");
    int second = b;
    unlock();
    assert((first == 0 && second == 0) || (first == 1 && second == -1));
    return unused;
}

int main(int count, char **arguments) {
    (void)arguments;
    fixed = count > 1;
    pthread_t setter, checker;
    pthread_create(&setter, NULL, set, NULL);
    pthread_create(&checker, NULL, check, NULL);
    pthread_join(setter, NULL);
    pthread_join(checker, NULL);
    return 0;
}
