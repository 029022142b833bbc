// Exits with the first bits of a random value, one of four numbers.
//   random once      of main
//   random threads   of two threads, which must differ or not as they like
#include <pthread.h>
#include <string.h>
#include <sys/random.h>

static void *draw(void *place) {
    unsigned char byte;
    getrandom(&byte, 1, 0);
    *(int *)place = byte & 3;
    return NULL;
}

int main(int argc, char **argv) {
    int mine = 0, other = 0;
    draw(&mine);
    if (argc > 1 && strcmp(argv[1], "threads") == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, draw, &other);
        pthread_join(thread, NULL);
    }
    return mine;
}
