// Prints its registers, where it is loaded, and the words of its stack.
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

extern char **environ;
extern char __executable_start[];
uint64_t table[4] = {1, 2, 3, 4};
uint64_t zeros[4];

static inline uint64_t inlined(uint64_t value) {
    return __atomic_exchange_n(&zeros[1], value, __ATOMIC_SEQ_CST); // exchange
}

__attribute__((noinline)) uint64_t inner(uint64_t value) {
    uint64_t rip, rsp, rbp;
    __asm__ volatile("lea 0(%%rip), %0\n mov %%rsp, %1\n mov %%rbp, %2" // registers
                     : "=&r"(rip), "=&r"(rsp), "=&r"(rbp));
    printf("%" PRIx64 " %" PRIx64 " %" PRIx64 "\n", rip, rsp, rbp);
    printf("%" PRIx64 "\n", (uint64_t)__executable_start);
    for (uint64_t *word = (uint64_t *)rsp; word < (uint64_t *)environ; word++)
        printf("%" PRIx64 "\n", *word);
    return value + 1;
}

__attribute__((noinline)) uint64_t middle(uint64_t count) {
    char bytes[100 + count]; // a frame whose size is not known before
    snprintf(bytes, sizeof bytes, "%" PRIu64, count);
    return inner(bytes[0]) + inlined(count); // call of inner
}

int main(int argc, char **argv) {
    uint64_t result = middle(table[argc]); // call of middle
    return result == 0 && argv[0][0] == 0;
}
