// Two threads book on one account, each under a lock, but not the same one. With the argument
// `fixed` it is. The journal has a lock of its own.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t wrong = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t journal = PTHREAD_MUTEX_INITIALIZER;
static int balance, entries;

static void write_down(void) {
    pthread_mutex_lock(&journal);
    entries++;
    pthread_mutex_unlock(&journal);
}

static void *book(void *lock) {
    pthread_mutex_lock(lock);
    int before = balance;
    write_down();
    balance = before + 1;
    pthread_mutex_unlock(lock);
    return NULL;
}

int main(int argc, char **argv) {
    (void)argv;
    int fixed = argc > 1;
    pthread_t other;
    pthread_create(&other, NULL, book, fixed ? &right : &wrong);
    book(&right);
    pthread_join(other, NULL);
    assert(entries == 2 && balance == 2);
    return 0;
}
