// What makes a defective shim fault, and what only looks like that.
#include "check.h"
#include <sys/syscall.h>

int main(int argc, char **argv) {
    CHECK(argc > 1);
    // No syscall has this number.
    if (!strcmp(argv[1], "shim")) syscall(-77, 0x18);
    // libc would follow the pointer, too.
    if (!strcmp(argv[1], "mutex")) pthread_mutex_lock((pthread_mutex_t *)0x20);
    return 0;
}
