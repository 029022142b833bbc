// Threads share a buffer through functions of libc and syscalls. With "fixed" a lock orders them.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int fixed;
static const char *how;
static char shared[64];
static int pipe_ends[2], sockets[2];
static volatile size_t size = sizeof shared;

static void *fills(void *unused) {
    char own[64];
    memset(own, 'a', sizeof own - 1);
    own[63] = 0;
    if (fixed) pthread_mutex_lock(&lock);
    memcpy(shared, own, size);
    if (fixed) pthread_mutex_unlock(&lock);
    return unused;
}

static char own[8] = "own";

static long by_instruction(void) {
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"((long)SYS_write), "D"((long)pipe_ends[1]), "S"(shared), "d"(size)
                     : "rcx", "r11", "memory");
    return result;
}

static void *looks(void *unused) {
    size_t length = 0;
    if (fixed) pthread_mutex_lock(&lock);
    if (!strcmp(how, "strlen")) length = strlen(shared);
    if (!strcmp(how, "write")) length = write(pipe_ends[1], shared, size);
    if (!strcmp(how, "plain")) length = shared[7];
    if (!strcmp(how, "syscall")) length = syscall(SYS_write, pipe_ends[1], shared, size);
    if (!strcmp(how, "instruction")) length = by_instruction();
    if (!strcmp(how, "vector")) {
        struct iovec two[2] = {{"x", 1}, {shared, size}};
        length = writev(pipe_ends[1], two, 2);
    }
    if (!strcmp(how, "message")) {
        struct iovec two[2] = {{"x", 1}, {shared, size}};
        struct msghdr message = {.msg_iov = two, .msg_iovlen = 2};
        length = sendmsg(sockets[1], &message, 0);
    }
    if (!strcmp(how, "path")) length = open(shared, O_RDONLY);
    if (!strcmp(how, "sixth")) {
        char line[256];
        length = snprintf(line, sizeof line, "%s%s%s%s%s%.63s", own, own, own, own, own, shared);
    }
    if (fixed) pthread_mutex_unlock(&lock);
    return (void *)length;
}

int main(int count, char **arguments) {
    how = arguments[1];
    fixed = count > 2;
    if (pipe(pipe_ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets)) return 1;
    pthread_t threads[2];
    pthread_create(&threads[0], 0, fills, 0);
    pthread_create(&threads[1], 0, looks, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
}
