// heap HOW: misuses the heap in one of several ways, natively an abort by libc.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static char *volatile block;

static void *release(void *unused) {
    free(block);
    return unused;
}

static char *make(size_t size) { return malloc(size); }

int main(int count, char **arguments) {
    const char *how = count > 1 ? arguments[1] : "";
    char stack[64];
    char *volatile pointer = stack;
    block = make(24);
    if (!strcmp(how, "threads")) {
        pthread_t threads[2];
        for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, release, NULL);
        for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
        return 0;
    }
    if (!strcmp(how, "realloc")) {
        free(block);
        return realloc(block, 100) == NULL;
    }
    if (!strcmp(how, "stack")) pointer = stack + 16;
    if (!strcmp(how, "static")) pointer = (char *)&block;
    if (!strcmp(how, "constant")) pointer = (char *)"a constant of the program";
    if (!strcmp(how, "inside")) pointer = block + 16;
    if (!strcmp(how, "static") || !strcmp(how, "constant")) free(pointer);
    if (!strcmp(how, "stack") || !strcmp(how, "inside")) free(pointer);
    if (!strcmp(how, "aligned")) {
        pointer = aligned_alloc(64, 100);
        free(pointer);
        free(pointer);
    }
    if (!strcmp(how, "behind") || !strcmp(how, "kept")) block[24] = 'x';
    if (!strcmp(how, "next")) {
        pointer = make(24);
        memset(block, 'x', 64);
    }
    if (!strcmp(how, "poison")) {
        // What was freed is no pointer any more.
        char **list = malloc(sizeof *list);
        *list = block;
        free(list);
        **(char *volatile *)list = 'x';
    }
    if (strcmp(how, "kept")) free(block);
    // What is right stays right.
    pointer = calloc(3, 16);
    memset(pointer, 'y', 48);
    pointer = realloc(pointer, 56);
    pointer = realloc(pointer, 40);
    memset(pointer, 'z', 40);
    pointer = realloc(pointer, 4000);
    free(pointer);
    return 0;
}
