// Two threads that work on data of their own: sums, sorting by insertion, and text.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 400, ROUNDS = 4 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t total;

static void *works(void *seed) {
    uint64_t random = (uintptr_t)seed, sum = 0;
    uint32_t *numbers = malloc(NUMBERS * sizeof *numbers);
    char *text = malloc(NUMBERS + 1);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < NUMBERS; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            uint32_t number = random >> 33;
            int at = i;
            for (; at > 0 && numbers[at - 1] > number; at--) numbers[at] = numbers[at - 1];
            numbers[at] = number;
        }
        for (int i = 0; i < NUMBERS; i++) text[i] = 'a' + numbers[i] % 26;
        text[NUMBERS] = 0;
        for (char *at = text; *at; at++) sum = sum * 31 + *at;
    }
    pthread_mutex_lock(&mutex);
    total += sum;
    pthread_mutex_unlock(&mutex);
    free(text);
    free(numbers);
    return NULL;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, works, (void *)2);
    works((void *)1);
    pthread_join(other, NULL);
    return 0;
}
