// Generates a function while it runs, and calls it from two threads.
#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int (*generated)(void);

static void *call(void *sum) {
    *(int *)sum = generated();
    return sum;
}

int main(int argc, char **argv) {
    // mov eax, 42; ret
    static const unsigned char code[] = {0xb8, 42, 0, 0, 0, 0xc3};
    int all = PROT_READ | PROT_WRITE, at_once = argc > 1;
    unsigned char *at = mmap(NULL, 4096, at_once ? all | PROT_EXEC : all,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(at != MAP_FAILED);
    memcpy(at, code, sizeof code);
    if (!at_once) assert(mprotect(at, 4096, PROT_READ | PROT_EXEC) == 0);
    generated = (int (*)(void))at;
    pthread_t threads[2];
    int sums[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, call, &sums[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert(sums[0] + sums[1] == 84);
    assert(munmap(at, 4096) == 0);
    return 0;
}
