// Two threads add to a total, each under a lock of its own.
// With `fixed` both take the same one.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct account {
    pthread_mutex_t lock;
    long total;
};

static struct account *account;
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;

static void *add(void *argument) {
    pthread_mutex_t *lock = argument;
    pthread_mutex_lock(lock);
    account->total += 10;
    pthread_mutex_unlock(lock);
    return NULL;
}

int main(int count, char **arguments) {
    (void)arguments;
    account = calloc(1, sizeof *account);
    pthread_mutex_init(&account->lock, NULL);
    pthread_t first, second;
    pthread_create(&first, NULL, add, &account->lock);
    pthread_create(&second, NULL, add, count > 1 ? &account->lock : &other);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(account->total == 20);
    return 0;
}
