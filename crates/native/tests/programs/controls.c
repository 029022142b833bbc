// What a process says about itself (`prctl`), its limits, its children, its network interfaces.
#include "check.h"
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static void processes(void) {
    int value = -1;
    IS(prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0), 0);
    IS(prctl(PR_GET_PDEATHSIG, &value, 0, 0, 0), 0);
    IS(value, 9);
    FAILS(prctl(PR_SET_PDEATHSIG, 1000, 0, 0, 0), EINVAL);
    IS(prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0), 0);
    IS(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 1);
    IS(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), 0);
    IS(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 0);
    FAILS(prctl(PR_SET_DUMPABLE, 7, 0, 0, 0), EINVAL);
    IS(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), 0);
    IS(prctl(PR_GET_KEEPCAPS, 0, 0, 0, 0), 0);
    IS(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 0);
    IS(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    IS(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 1);
    FAILS(prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0), EINVAL);
    IS(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), 50000);
    IS(prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0), 0);
    IS(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), 1000);
    IS(prctl(PR_SET_TIMERSLACK, 0, 0, 0, 0), 0);
    IS(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), 50000);
    CHECK(prctl(PR_CAPBSET_READ, 0, 0, 0, 0) >= 0);
    FAILS(prctl(PR_CAPBSET_READ, 1000, 0, 0, 0), EINVAL);
    IS(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
    IS(prctl(PR_GET_CHILD_SUBREAPER, &value, 0, 0, 0), 0);
    IS(value, 1);
    IS(prctl(PR_GET_SECCOMP, 0, 0, 0, 0), 0);
    char name[16] = "";
    IS(prctl(PR_SET_NAME, "a name that is too long", 0, 0, 0), 0);
    IS(prctl(PR_GET_NAME, name, 0, 0, 0), 0);
    IS(strcmp(name, "a name that is "), 0);
    puts("processes");
}

static void limits(void) {
    struct rlimit limit, same;
    IS(getrlimit(RLIMIT_CORE, &limit), 0);
    limit.rlim_cur = 0;
    IS(setrlimit(RLIMIT_CORE, &limit), 0);
    IS(getrlimit(RLIMIT_CORE, &same), 0);
    CHECK(same.rlim_cur == 0 && same.rlim_max == limit.rlim_max);
    FAILS(setrlimit(RLIMIT_STACK, &(struct rlimit){2, 1}), EINVAL);
    FAILS(getrlimit(99, &limit), EINVAL);
    puts("limits");
}

static void children(void) {
    int status;
    FAILS(wait(&status), ECHILD);
    FAILS(waitpid(-1, &status, WNOHANG), ECHILD);
    FAILS(waitid(P_ALL, 0, NULL, WEXITED), ECHILD);
    puts("children");
}

static void interfaces(void) {
    struct ifaddrs *list;
    int loopback = 0;
    IS(getifaddrs(&list), 0);
    for (struct ifaddrs *at = list; at; at = at->ifa_next) {
        if (!at->ifa_addr || at->ifa_addr->sa_family != AF_INET) continue;
        struct sockaddr_in *address = (void *)at->ifa_addr, *mask = (void *)at->ifa_netmask;
        if (address->sin_addr.s_addr != htonl(INADDR_LOOPBACK)) continue;
        CHECK(mask->sin_addr.s_addr == htonl(0xff000000));
        CHECK(strcmp(at->ifa_name, "lo") == 0);
        CHECK(at->ifa_flags & IFF_LOOPBACK && at->ifa_flags & IFF_UP);
        loopback++;
    }
    freeifaddrs(list);
    IS(loopback, 1);
    struct if_nameindex *names = if_nameindex();
    CHECK(names && names[0].if_index == 1 && strcmp(names[0].if_name, "lo") == 0);
    if_freenameindex(names);
    IS(if_nametoindex("lo"), 1);
    puts("interfaces");
}

int main(void) {
    processes();
    limits();
    children();
    interfaces();
    return 0;
}
