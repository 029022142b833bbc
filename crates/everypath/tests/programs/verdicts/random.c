// Random numbers of the processor: each is 1 whatever it is, but for its parity, of which nothing is known.
// Prints them; two executions must print the same.
#include <immintrin.h>
#include <pthread.h>
#include <stdio.h>

__attribute__((target("rdrnd,rdseed"))) static void *draw(void *nothing) {
    unsigned long long wide = 0;
    unsigned int narrow = 0;
    unsigned short half = 0;
    int drawn = _rdrand64_step(&wide) + _rdrand32_step(&narrow) + _rdseed16_step(&half);
    printf("%d %llx %x %x\n", drawn, wide, narrow, half);
    return nothing;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, draw, NULL);
    pthread_join(thread, NULL);
    draw(NULL);
    return 0;
}
