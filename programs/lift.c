// A lift with two floors. Its motor and its doors are two threads; people press buttons in any
// order. The doors must not open between floors: the motor should stop first, and say so.
#include "everypath.h"
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int moving, open_doors, fixed;

static void *move(void *floors) {
    pthread_mutex_lock(&lock);
    if (!fixed || !open_doors) moving = 1;
    pthread_mutex_unlock(&lock);
    for (long floor = 0; floor < (long)floors; floor++) everypath_note("passes a floor");
    pthread_mutex_lock(&lock);
    moving = 0;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *open_door(void *unused) {
    pthread_mutex_lock(&lock);
    int stands = !moving;
    if (!fixed) pthread_mutex_unlock(&lock);
    if (stands) {
        if (!fixed) pthread_mutex_lock(&lock);
        open_doors = 1;
        everypath_always(!moving, "the doors open while the lift moves");
        if (!fixed) pthread_mutex_unlock(&lock);
    }
    if (fixed) pthread_mutex_unlock(&lock);
    return unused;
}

int main(int argc, char **argv) {
    (void)argv;
    fixed = argc > 1;
    long floors = everypath_choose(4);
    everypath_assume(floors > 0);
    pthread_t motor, doors;
    pthread_create(&motor, NULL, move, (void *)floors);
    pthread_create(&doors, NULL, open_door, NULL);
    pthread_join(motor, NULL);
    pthread_join(doors, NULL);
    printf("%ld floors up\n", floors);
    return 0;
}
