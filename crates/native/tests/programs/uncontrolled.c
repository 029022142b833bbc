// What cannot be controlled, one for each argument.
#include "check.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

static char stack[1 << 16];

static int elsewhere(void *unused) {
    (void)unused;
    return 0;
}

int main(int argc, char **argv) {
    CHECK(argc > 1);
    const char *name = argv[1];
    char *arguments[] = {"true", NULL};
    if (!strcmp(name, "fork") && fork() == 0) _exit(0);
    if (!strcmp(name, "raw fork") && syscall(SYS_fork) == 0) _exit(0);
    if (!strcmp(name, "exec")) execv("/bin/true", arguments);
    if (!strcmp(name, "system")) (void)!system("true");
    if (!strcmp(name, "popen")) pclose(popen("true", "r"));
    if (!strcmp(name, "connect")) {
        struct sockaddr_in elsewhere = {.sin_family = AF_INET, .sin_port = htons(80)};
        inet_pton(AF_INET, "192.0.2.1", &elsewhere.sin_addr);
        connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&elsewhere, sizeof elsewhere);
    }
    if (!strcmp(name, "dlopen")) dlopen("libresolv.so.2", RTLD_NOW);
    if (!strcmp(name, "clone")) clone(elsewhere, stack + sizeof stack, CLONE_VM | SIGCHLD, NULL);
    if (!strcmp(name, "splice")) {
        int ends[2];
        CHECK(pipe(ends) == 0);
        splice(ends[0], NULL, open("/dev/null", O_WRONLY), NULL, 1, 0);
    }
    if (!strcmp(name, "processor time")) {
        struct itimerval timer = {{0, 0}, {1, 0}};
        setitimer(ITIMER_PROF, &timer, NULL);
    }
    if (!strcmp(name, "kill")) kill(getppid(), SIGTERM);
    if (!strcmp(name, "stop")) raise(SIGSTOP);
    if (!strcmp(name, "timer")) syscall(SYS_timer_create, CLOCK_REALTIME_ALARM, NULL, stack);
    if (!strcmp(name, "device")) open("/dev/full", O_RDONLY);
    if (!strcmp(name, "owner of I/O")) fcntl(1, F_SETOWN, 1);
    if (!strcmp(name, "break")) sbrk(4096);
    if (!strcmp(name, "netlink")) socket(AF_NETLINK, SOCK_RAW, 0);
    if (!strcmp(name, "vsock")) socket(AF_VSOCK, SOCK_STREAM, 0);
    if (!strcmp(name, "process control")) prctl(PR_SET_MM, PR_SET_MM_BRK, stack, 0, 0);
    if (!strcmp(name, "fast open")) {
        struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(80)};
        sendto(socket(AF_INET, SOCK_STREAM, 0), "x", 1, MSG_FASTOPEN, (void *)&here, sizeof here);
    }
    if (!strcmp(name, "priority ceiling")) {
        pthread_mutexattr_t attributes;
        pthread_mutex_t mutex;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_PROTECT);
        pthread_mutex_init(&mutex, &attributes);
        pthread_mutex_lock(&mutex);
    }
    return 0;
}
