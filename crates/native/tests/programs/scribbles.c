// Writes over the memory that the checker shares with it, at an offset and with words that follow from
// a seed. Nothing is there natively: then it only takes its locks.
#include "check.h"
#include <stdint.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static uint64_t mix(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static void *adds(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    total++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(int argc, char **argv) {
    // seed, start of the region, its length
    CHECK(argc == 4);
    uint64_t state = strtoull(argv[1], NULL, 0);
    char *start = (char *)strtoull(argv[2], NULL, 0);
    uint64_t length = strtoull(argv[3], NULL, 0);
    pthread_t one;
    pthread_create(&one, NULL, adds, NULL);
    adds(NULL);
    uint64_t words = 1 + mix(&state) % 64, at = mix(&state) % (length - 8 * 64) & ~7ull;
    for (uint64_t i = 0; i < words; i++) {
        uint64_t value = mix(&state);
        // Small numbers are the likelier ones to be taken for something.
        memcpy(start + at + 8 * i, (uint64_t[]){value & 1 ? value : value >> 40 & 0xff}, 8);
    }
    adds(NULL);
    pthread_join(one, NULL);
    return total == 3 ? 0 : 1;
}
