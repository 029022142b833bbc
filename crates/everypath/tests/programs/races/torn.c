// Sixteen bytes are stored and loaded by one instruction each, which is no single access.
#include <emmintrin.h>
#include <pthread.h>
#include <stdio.h>

static __m128i shared;
static long seen[2];

static void *stores(void *unused) {
    _mm_store_si128(&shared, _mm_set1_epi64x(1));
    return unused;
}

static void *loads(void *unused) {
    _mm_storeu_si128((__m128i *)seen, _mm_load_si128(&shared));
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, stores, 0);
    pthread_create(&threads[1], 0, loads, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return seen[0] * 2 + seen[1];
}
