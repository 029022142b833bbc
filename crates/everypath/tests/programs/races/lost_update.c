/* Two threads add to a balance that they reach by a pointer, without a lock. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct account {
    long balance;
};

static void *deposit(void *argument) {
    struct account *account = argument;
    long balance = account->balance;
    account->balance = balance + 10;
    return NULL;
}

int main(void) {
    struct account *account = calloc(1, sizeof *account);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, deposit, account);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(account->balance == 20);
    free(account);
    return 0;
}
