// The allocator and anonymous mappings.
#include "check.h"
#include <malloc.h>
#include <stdint.h>
#include <sys/mman.h>

static int all_zero(const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (bytes[i]) return 0;
    return 1;
}

static void *frees(void *blocks) {
    for (int i = 0; i < 64; i++) free(((void **)blocks)[i]);
    return malloc(100);
}

static void *allocates(void *seed) {
    char *blocks[16];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 16; i++) {
            size_t size = ((size_t)seed * 7919 + (size_t)i * 104729 + round) % 5000 + 1;
            blocks[i] = malloc(size);
            memset(blocks[i], i + (int)(long)seed, size);
            blocks[i] = realloc(blocks[i], size + 3000);
            CHECK(blocks[i][0] == i + (int)(long)seed && blocks[i][size - 1] == blocks[i][0]);
        }
        for (int i = 0; i < 16; i++) {
            CHECK(blocks[i][0] == i + (int)(long)seed);
            free(blocks[i]);
        }
        sched_yield();
    }
    return NULL;
}

static void blocks(void) {
    void *small = malloc(0);
    CHECK(small != NULL);
    free(small);
    free(NULL);
    char *text = realloc(NULL, 10);
    strcpy(text, "123456789");
    for (size_t size = 20; size < 1 << 20; size = size * 3 / 2) {
        text = realloc(text, size);
        CHECK(malloc_usable_size(text) >= size);
        IS(strcmp(text, "123456789"), 0);
    }
    text = realloc(text, 10);
    IS(strcmp(text, "123456789"), 0);
    char *used = memset(malloc(5000), 7, 5000);
    free(used);
    char *clear = calloc(50, 100);
    CHECK(all_zero(clear, 5000));
    volatile size_t half = SIZE_MAX / 2;
    errno = 0;
    CHECK(calloc(half, 3) == NULL && errno == ENOMEM);
    CHECK(reallocarray(text, half, 3) == NULL);
    volatile size_t too_much = SIZE_MAX - 100;
    CHECK(malloc(too_much) == NULL);
    CHECK(realloc(text, too_much) == NULL);
    IS(strcmp(text, "123456789"), 0);
    free(text);
    void *many[64];
    for (int i = 0; i < 64; i++) many[i] = malloc((size_t)i * 37);
    free(join(start(frees, many)));
    pthread_t threads[] = {start(allocates, (void *)1), start(allocates, (void *)2)};
    join(threads[0]);
    join(threads[1]);
    puts("blocks");
}

static void alignment(void) {
    void *pointer;
    for (size_t align = 8; align <= 1 << 16; align *= 2) {
        IS(posix_memalign(&pointer, align, 100), 0);
        IS((uintptr_t)pointer % align, 0);
        CHECK(malloc_usable_size(pointer) >= 100);
        memset(pointer, 1, 100);
        pointer = realloc(pointer, 10000);
        IS(((char *)pointer)[99], 1);
        free(pointer);
        pointer = aligned_alloc(align, align * 2);
        IS((uintptr_t)pointer % align, 0);
        free(pointer);
        pointer = memalign(align, 1);
        IS((uintptr_t)pointer % align, 0);
        free(pointer);
    }
    IS(posix_memalign(&pointer, 24, 100), EINVAL);
    IS(posix_memalign(&pointer, 4, 100), EINVAL);
    pointer = valloc(10);
    IS((uintptr_t)pointer % 4096, 0);
    free(pointer);
    puts("alignment");
}

static char *map(size_t length) {
    char *at = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(at != MAP_FAILED);
    IS((uintptr_t)at % 4096, 0);
    CHECK(all_zero(at, length));
    return at;
}

static void mappings(void) {
    enum { PAGE = 4096 };
    char *at = map(10 * PAGE);
    memset(at, 5, 10 * PAGE);
    // The first part goes; the rest stays as it is, whatever comes next.
    IS(munmap(at, 8 * PAGE), 0);
    char *next = map(10 * PAGE);
    memset(next, 6, 10 * PAGE);
    CHECK(at[8 * PAGE] == 5 && at[10 * PAGE - 1] == 5);
    IS(munmap(next, 10 * PAGE), 0);
    IS(munmap(at + 8 * PAGE, 2 * PAGE), 0);
    at = map(4 * PAGE);
    memset(at, 3, 4 * PAGE);
    IS(madvise(at + PAGE, PAGE, MADV_DONTNEED), 0);
    CHECK(at[PAGE - 1] == 3 && all_zero(at + PAGE, PAGE) && at[2 * PAGE] == 3);
    char *larger = mremap(at, 4 * PAGE, 20 * PAGE, MREMAP_MAYMOVE);
    CHECK(larger != MAP_FAILED && larger[0] == 3 && larger[4 * PAGE - 1] == 3);
    CHECK(all_zero(larger + 4 * PAGE, 16 * PAGE));
    // Smaller is in place, and larger again without leave to move is in place or not at all.
    CHECK(mremap(larger, 20 * PAGE, 2 * PAGE, 0) == larger);
    CHECK(larger[PAGE] == 0 && larger[PAGE - 1] == 3);
    char *grown = mremap(larger, 2 * PAGE, 3 * PAGE, 0);
    CHECK(grown == larger || grown == MAP_FAILED);
    IS(munmap(larger, (grown == larger ? 3 : 2) * PAGE), 0);
    FAILS((long)mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), EINVAL);
    FAILS(munmap((void *)1, PAGE), EINVAL);
    // A fixed address inside a mapping of one's own.
    at = map(3 * PAGE);
    memset(at, 9, 3 * PAGE);
    char *fixed = mmap(at + PAGE, PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    CHECK(fixed == at + PAGE && all_zero(fixed, PAGE) && at[PAGE - 1] == 9 && at[2 * PAGE] == 9);
    IS(munmap(at, 3 * PAGE), 0);
    puts("mappings");
}

int main(void) {
    blocks();
    alignment();
    mappings();
    return 0;
}
