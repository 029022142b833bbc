/* Two threads pay into an account, without a lock or an atomic: a data race, and a lost update. With
   the argument "fixed" a mutex protects the account. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct account {
    long balance;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int fixed;

static void *deposit(void *argument) {
    struct account *account = argument;
    if (fixed) pthread_mutex_lock(&mutex);
    account->balance += 10;
    if (fixed) pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(int count, char **arguments) {
    (void)arguments;
    fixed = count > 1;
    struct account *account = calloc(1, sizeof *account);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, deposit, account);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert(account->balance == 20);
    free(account);
    return 0;
}
