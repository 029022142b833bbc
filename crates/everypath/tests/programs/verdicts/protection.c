// Protected and unmapped pages, and writes far behind the end of a block.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char page[2 * PAGE] __attribute__((aligned(PAGE)));
static volatile char *shared;
static const char *how;

static volatile char *map(size_t length, int protection) {
    return mmap(NULL, length, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static int is(const char *name) { return !strcmp(how, name); }

// Whether it comes before the other thread writes depends on the schedule.
static void *closes(void *unused) {
    pthread_mutex_lock(&mutex);
    if (is("late-readonly") || is("late-static"))
        mprotect((char *)shared, PAGE, PROT_READ);
    else if (is("late-none"))
        mprotect((char *)shared, PAGE, PROT_NONE);
    else if (is("late-unmap"))
        munmap((char *)shared, 4 * PAGE);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *writes(void *unused) {
    pthread_mutex_lock(&mutex);
    shared[1]++;
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void unprotect(int signal) {
    (void)signal;
    mprotect((char *)shared, PAGE, PROT_READ | PROT_WRITE);
}

static void alone(void) {
    volatile char *p = map(4 * PAGE, PROT_READ | PROT_WRITE);
    p[0] = 1;
    if (is("map-none"))
        map(PAGE, PROT_NONE)[0] = 1;
    else if (is("map-readonly"))
        map(PAGE, PROT_READ)[0] = 1;
    else if (is("part")) {
        munmap((char *)p + PAGE, PAGE);
        p[0] = p[2 * PAGE] = 1;
        p[PAGE] = 1;
    } else if (is("heap")) {
        volatile char *block = malloc(100000);
        for (size_t at = 0; at < (size_t)1 << 32; at += PAGE)
            block[at] = 1;
    } else if (is("map-end")) {
        for (size_t at = 0; at < (size_t)1 << 32; at += PAGE)
            p[at] = 1;
    } else if (is("handled")) {
        shared = p;
        signal(SIGSEGV, unprotect);
        mprotect((char *)p, PAGE, PROT_NONE);
        shared[0] = 7;
        assert(p[0] == 7);
    } else if (is("fine")) {
        mprotect((char *)p, PAGE, PROT_NONE);
        mprotect((char *)p, 2 * PAGE, PROT_READ | PROT_WRITE);
        p[0] = 2;
        assert(munmap((char *)p, 4 * PAGE) == 0 && munmap((char *)p, 4 * PAGE) == 0);
        assert(mprotect((char *)p, PAGE, PROT_READ) == -1);
        p = map(4 * PAGE, PROT_NONE);
        mprotect((char *)p + PAGE, PAGE, PROT_READ | PROT_WRITE);
        assert(p[PAGE] == 0);
        p[PAGE] = 1;
        madvise((char *)p, 4 * PAGE, MADV_DONTNEED);
        assert(p[PAGE] == 0);
        char *block = aligned_alloc(PAGE, 2 * PAGE);
        mprotect(block, PAGE, PROT_READ);
        assert(block[0] == 0);
        mprotect(block, PAGE, PROT_READ | PROT_WRITE);
        free(block);
        mprotect(page, PAGE, PROT_READ);
        assert(page[0] == 0);
        mprotect(page, PAGE, PROT_READ | PROT_WRITE);
        page[0] = 1;
        // Still protected at the end of the execution.
        mprotect(page, PAGE, PROT_NONE);
        volatile char *large = malloc(8 << 20);
        large[0] = large[(8 << 20) - 1] = 1;
    }
}

int main(int argc, char **argv) {
    pthread_t a, b;
    how = argc > 1 ? argv[1] : "fine";
    shared = is("late-static") ? page : map(4 * PAGE, PROT_READ | PROT_WRITE);
    pthread_create(&a, NULL, writes, NULL);
    pthread_create(&b, NULL, closes, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    alone();
    return 0;
}
