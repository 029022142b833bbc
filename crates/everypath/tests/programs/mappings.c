/* Makes as many mappings before main as its argument says; every other one can be written. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

static int *mapped;

__attribute__((constructor)) static void make(int argc, char **argv) {
    for (int i = 0; argc > 1 && i < atoi(argv[1]); i++) {
        int protection = i % 2 ? PROT_NONE : PROT_READ | PROT_WRITE;
        void *page = mmap(0, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED) abort();
        if (i == 0) mapped = page;
    }
}

static void *add(void *unused) {
    __atomic_fetch_add(mapped, 1, __ATOMIC_SEQ_CST);
    return unused;
}

/* What an execution writes to a mapping is gone in the next one. */
int main(void) {
    pthread_t thread;
    if (*mapped != 0) return 1;
    pthread_create(&thread, 0, add, 0);
    add(0);
    pthread_join(thread, 0);
    return *mapped == 2 ? 0 : 2;
}
