/* The same with a lock, which orders the accesses. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct account {
    pthread_mutex_t lock;
    long balance;
};

static void *deposit(void *argument) {
    struct account *account = argument;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&account->lock);
        account->balance += 10;
        pthread_mutex_unlock(&account->lock);
    }
    return NULL;
}

int main(void) {
    struct account *account = calloc(1, sizeof *account);
    pthread_mutex_init(&account->lock, NULL);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, deposit, account);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(account->balance == 40);
    free(account);
    return 0;
}
