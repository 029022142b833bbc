// Whoever needs the resource first makes it: two threads look, both find that it is not there, and
// both make it. With the argument `fixed` a one-time initialiser does.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int made;
static int fixed;

static void make(void) {
    pthread_mutex_lock(&lock);
    made++;
    pthread_mutex_unlock(&lock);
}

static int is_there(void) {
    pthread_mutex_lock(&lock);
    int there = made > 0;
    pthread_mutex_unlock(&lock);
    return there;
}

static void *use(void *unused) {
    (void)unused;
    if (fixed) pthread_once(&once, make);
    else if (!is_there()) make();
    return NULL;
}

int main(int argc, char **argv) {
    (void)argv;
    fixed = argc > 1;
    pthread_t other;
    pthread_create(&other, NULL, use, NULL);
    use(NULL);
    pthread_join(other, NULL);
    assert(made == 1);
    return 0;
}
