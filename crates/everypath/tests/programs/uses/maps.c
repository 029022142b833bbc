// Two threads share a counter in a file that is mapped: by atomic instructions, by loads and stores that
// lose one, or by the file's own calls beside the mapping.
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static atomic_int *first, *second;
static const char *how;
static int file;

static void add(atomic_int *counter) {
    if (!strcmp(how, "atomic")) atomic_fetch_add(counter, 1);
    else atomic_store(counter, atomic_load(counter) + 1);
}

static void *other(void *unused) {
    if (!strcmp(how, "calls")) {
        int value = 0;
        assert(pread(file, &value, sizeof value, 0) == sizeof value);
        value++;
        assert(pwrite(file, &value, sizeof value, 0) == sizeof value);
    } else add(second);
    return unused;
}

int main(int argc, char **argv) {
    how = argc > 1 ? argv[1] : "atomic";
    file = open("counter", O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert(file >= 0 && ftruncate(file, 4096) == 0);
    first = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    second = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert(first != MAP_FAILED && second != MAP_FAILED);
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    add(first);
    pthread_join(thread, NULL);
    int value = 0;
    assert(pread(file, &value, sizeof value, 0) == sizeof value);
    assert(value == 2);
    return 0;
}
