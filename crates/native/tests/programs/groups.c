// Datagrams to more than one receiver: broadcast and multicast on loopback.
#include "net.h"

#define GROUP 0xefff1122

static int receiver(unsigned port) {
    struct address any = {.v4 = {.sin_family = AF_INET, .sin_port = port}, .length = sizeof any.v4};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    set_number(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    IS(bind(fd, &any.any, any.length), 0);
    return fd;
}

static struct address to(unsigned host, unsigned port) {
    struct address address = {.v4 = {.sin_family = AF_INET, .sin_port = port}};
    address.v4.sin_addr.s_addr = htonl(host);
    address.length = sizeof address.v4;
    return address;
}

static void expect(int fd, const char *text) {
    char got[16];
    CHECK(await(fd, POLLIN) & POLLIN);
    IS(recv(fd, got, sizeof got, 0), (long)strlen(text));
    SAME(got, text);
    FAILS(recv(fd, got, sizeof got, MSG_DONTWAIT), EAGAIN);
}

static void expect_nothing(int fd) {
    char byte;
    FAILS(recv(fd, &byte, 1, MSG_DONTWAIT), EAGAIN);
}

static void broadcast(void) {
    int one = receiver(0);
    unsigned port = name_of(one).v4.sin_port;
    int other = receiver(port), sender = bound(AF_INET, SOCK_DGRAM);
    struct address all = to(0x7fffffff, port);
    FAILS(sendto(sender, "all", 3, 0, &all.any, all.length), EACCES);
    set_number(sender, SOL_SOCKET, SO_BROADCAST, 1);
    IS(sendto(sender, "all", 3, 0, &all.any, all.length), 3);
    expect(one, "all");
    expect(other, "all");
    IS(close(one) + close(other) + close(sender), 0);
}

static void multicast(void) {
    int one = receiver(0);
    unsigned port = name_of(one).v4.sin_port;
    int other = receiver(port), sender = bound(AF_INET, SOCK_DGRAM);
    struct address group = to(GROUP, port), outside = to(GROUP + 1, port);
    struct ip_mreq member = {{htonl(GROUP)}, {htonl(INADDR_LOOPBACK)}};
    struct in_addr interface = {htonl(INADDR_LOOPBACK)}, got;
    socklen_t length = sizeof got;
    IS(setsockopt(sender, IPPROTO_IP, IP_MULTICAST_IF, &interface, sizeof interface), 0);
    IS(getsockopt(sender, IPPROTO_IP, IP_MULTICAST_IF, &got, &length), 0);
    IS(got.s_addr, interface.s_addr);
    IS(number_option(sender, IPPROTO_IP, IP_MULTICAST_LOOP), 1);
    IS(number_option(sender, IPPROTO_IP, IP_MULTICAST_TTL), 1);
    set_number(sender, IPPROTO_IP, IP_MULTICAST_TTL, 4);
    IS(number_option(sender, IPPROTO_IP, IP_MULTICAST_TTL), 4);
    FAILS(setsockopt(one, IPPROTO_IP, IP_DROP_MEMBERSHIP, &member, sizeof member), EADDRNOTAVAIL);
    IS(setsockopt(one, IPPROTO_IP, IP_ADD_MEMBERSHIP, &member, sizeof member), 0);
    FAILS(setsockopt(one, IPPROTO_IP, IP_ADD_MEMBERSHIP, &member, sizeof member), EADDRINUSE);
    // Who does not say otherwise hears what others on this machine have joined.
    IS(number_option(other, IPPROTO_IP, IP_MULTICAST_ALL), 1);
    IS(sendto(sender, "all", 3, 0, &group.any, group.length), 3);
    expect(one, "all");
    expect(other, "all");
    set_number(other, IPPROTO_IP, IP_MULTICAST_ALL, 0);
    IS(sendto(sender, "one", 3, 0, &group.any, group.length), 3);
    expect(one, "one");
    expect_nothing(other);
    IS(setsockopt(other, IPPROTO_IP, IP_ADD_MEMBERSHIP, &member, sizeof member), 0);
    IS(sendto(sender, "two", 3, 0, &group.any, group.length), 3);
    expect(one, "two");
    expect(other, "two");
    IS(sendto(sender, "no", 2, 0, &outside.any, outside.length), 2);
    expect_nothing(one);
    expect_nothing(other);
    set_number(one, IPPROTO_IP, IP_MULTICAST_ALL, 0);
    IS(setsockopt(one, IPPROTO_IP, IP_DROP_MEMBERSHIP, &member, sizeof member), 0);
    IS(sendto(sender, "three", 5, 0, &group.any, group.length), 5);
    expect(other, "three");
    expect_nothing(one);
    // Whether the own machine gets a copy is for the sender to say.
    set_number(sender, IPPROTO_IP, IP_MULTICAST_LOOP, 0);
    IS(number_option(sender, IPPROTO_IP, IP_MULTICAST_LOOP), 0);
    // But what leaves by loopback has no other way.
    IS(sendto(sender, "four", 4, 0, &group.any, group.length), 4);
    expect(other, "four");
    expect_nothing(one);
    IS(close(one) + close(other) + close(sender), 0);
    struct ip_mreq bad = {{htonl(INADDR_LOOPBACK)}, {htonl(INADDR_LOOPBACK)}};
    one = receiver(0);
    FAILS(setsockopt(one, IPPROTO_IP, IP_ADD_MEMBERSHIP, &bad, sizeof bad), EINVAL);
    IS(close(one), 0);
}

int main(void) {
    broadcast();
    puts("broadcast");
    multicast();
    puts("multicast");
    return 0;
}
