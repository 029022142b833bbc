// Datagrams to groups of IPv6 on loopback.
#include "net.h"
#include <net/if.h>

// Of the scope of an interface, so that no route is needed.
static const struct in6_addr GROUP = {{{0xff, 0x01, [14] = 0x11, [15] = 0x22}}};
static const struct in6_addr OUTSIDE = {{{0xff, 0x01, [14] = 0x11, [15] = 0x23}}};

static struct address at(struct in6_addr host, unsigned port, unsigned interface) {
    struct address address = {.v6 = {.sin6_family = AF_INET6, .sin6_port = port}};
    address.v6.sin6_addr = host;
    address.v6.sin6_scope_id = interface;
    address.length = sizeof address.v6;
    return address;
}

static int receiver(struct in6_addr host, unsigned port) {
    unsigned interface = IN6_IS_ADDR_MULTICAST(&host) ? if_nametoindex("lo") : 0;
    struct address address = at(host, port, interface);
    int fd = socket(AF_INET6, SOCK_DGRAM, 0);
    set_number(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    IS(bind(fd, &address.any, address.length), 0);
    return fd;
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

static void options(void) {
    int fd = socket(AF_INET6, SOCK_DGRAM, 0);
    int lo = (int)if_nametoindex("lo");
    IS(number_option(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF), 0);
    set_number(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, lo);
    IS(number_option(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF), lo);
    int nowhere = 99999;
    FAILS(setsockopt(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, &nowhere, sizeof nowhere), ENODEV);
    IS(number_option(fd, IPPROTO_IPV6, IPV6_MULTICAST_LOOP), 1);
    int two = 2;
    FAILS(setsockopt(fd, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, &two, sizeof two), EINVAL);
    set_number(fd, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 0);
    IS(number_option(fd, IPPROTO_IPV6, IPV6_MULTICAST_LOOP), 0);
    IS(number_option(fd, IPPROTO_IPV6, IPV6_MULTICAST_HOPS), 1);
    set_number(fd, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, 4);
    IS(number_option(fd, IPPROTO_IPV6, IPV6_MULTICAST_HOPS), 4);
    set_number(fd, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, -1);
    IS(number_option(fd, IPPROTO_IPV6, IPV6_MULTICAST_HOPS), 1);
    int many = 256;
    FAILS(setsockopt(fd, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, &many, sizeof many), EINVAL);
    IS(number_option(fd, IPPROTO_IPV6, IPV6_MULTICAST_ALL), 1);
    FAILS(setsockopt(fd, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, &two, 1), EINVAL);
    IS(close(fd), 0);
}

static void membership(void) {
    int fd = receiver(in6addr_any, 0);
    unsigned lo = if_nametoindex("lo");
    struct ipv6_mreq member = {GROUP, lo}, bad = {in6addr_loopback, lo};
    struct ipv6_mreq nowhere = {GROUP, 99999};
    char name[IF_NAMESIZE];
    SAME(if_indextoname(lo, name), "lo");
    FAILS((long)if_nametoindex("nowhere") - 1, ENODEV);
    CHECK(!if_indextoname(99999, name));
    IS(errno, ENXIO);
    FAILS(setsockopt(fd, IPPROTO_IPV6, IPV6_LEAVE_GROUP, &member, sizeof member), EADDRNOTAVAIL);
    FAILS(setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &bad, sizeof bad), EINVAL);
    FAILS(setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &nowhere, sizeof nowhere), ENODEV);
    FAILS(setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &member, 16), EINVAL);
    IS(setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &member, sizeof member), 0);
    FAILS(setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &member, sizeof member), EADDRINUSE);
    IS(setsockopt(fd, IPPROTO_IPV6, IPV6_LEAVE_GROUP, &member, sizeof member), 0);
    struct group_req request = {.gr_interface = lo};
    struct address group = at(GROUP, 0, 0);
    memcpy(&request.gr_group, &group.v6, sizeof group.v6);
    IS(setsockopt(fd, IPPROTO_IPV6, MCAST_JOIN_GROUP, &request, sizeof request), 0);
    FAILS(setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &member, sizeof member), EADDRINUSE);
    IS(setsockopt(fd, IPPROTO_IPV6, MCAST_LEAVE_GROUP, &request, sizeof request), 0);
    FAILS(setsockopt(fd, IPPROTO_IPV6, MCAST_LEAVE_GROUP, &request, sizeof request), EADDRNOTAVAIL);
    IS(close(fd), 0);
}

// A message to a group needs a route that leads back to this machine, which few have:
// `ip -6 route add local ff00::/8 dev lo table local`. Under control there is one.
static int has_route(void) {
    int fd = bound(AF_INET6, SOCK_DGRAM), lo = (int)if_nametoindex("lo");
    struct address outside = at(OUTSIDE, htons(9), (unsigned)lo);
    long sent = sendto(fd, "", 0, 0, &outside.any, outside.length);
    CHECK(sent == 0 || errno == ENETUNREACH);
    IS(close(fd), 0);
    return sent == 0;
}

static void delivery(void) {
    int one = receiver(in6addr_any, 0), lo = (int)if_nametoindex("lo");
    unsigned port = name_of(one).v6.sin6_port;
    int other = receiver(in6addr_any, port), sender = bound(AF_INET6, SOCK_DGRAM);
    int elsewhere = receiver(in6addr_loopback, port), only = receiver(GROUP, port);
    struct address group = at(GROUP, port, 0), outside = at(OUTSIDE, port, 0), from;
    struct ipv6_mreq member = {GROUP, (unsigned)lo};
    set_number(sender, IPPROTO_IPV6, IPV6_MULTICAST_IF, lo);
    IS(setsockopt(one, IPPROTO_IPV6, IPV6_JOIN_GROUP, &member, sizeof member), 0);
    IS(setsockopt(elsewhere, IPPROTO_IPV6, IPV6_JOIN_GROUP, &member, sizeof member), 0);
    set_number(other, IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0);
    IS(sendto(sender, "one", 3, 0, &group.any, group.length), 3);
    expect(one, "one");
    expect(only, "one");
    expect_nothing(other);
    expect_nothing(elsewhere);
    // Who does not say otherwise hears what others on this machine have joined.
    set_number(other, IPPROTO_IPV6, IPV6_MULTICAST_ALL, 1);
    IS(sendto(sender, "all", 3, 0, &group.any, group.length), 3);
    char got[16];
    from.length = sizeof from.storage;
    IS(recvfrom(other, got, sizeof got, 0, &from.any, &from.length), 3);
    CHECK(same(from, name_of(sender)));
    expect(one, "all");
    expect(only, "all");
    IS(sendto(sender, "no", 2, 0, &outside.any, outside.length), 2);
    expect_nothing(one);
    expect_nothing(other);
    set_number(one, IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0);
    IS(setsockopt(one, IPPROTO_IPV6, IPV6_LEAVE_GROUP, &member, sizeof member), 0);
    IS(setsockopt(other, IPPROTO_IPV6, IPV6_JOIN_GROUP, &member, sizeof member), 0);
    // What leaves by loopback comes back, whatever the sender asks for.
    set_number(sender, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 0);
    IS(sendto(sender, "two", 3, 0, &group.any, group.length), 3);
    expect(other, "two");
    expect(only, "two");
    expect_nothing(one);
    // The interface can be named by the address instead.
    struct address scoped = at(GROUP, port, (unsigned)lo);
    int plain = bound(AF_INET6, SOCK_DGRAM);
    IS(sendto(plain, "three", 5, 0, &scoped.any, scoped.length), 5);
    expect(other, "three");
    IS(close(one) + close(other) + close(sender) + close(elsewhere) + close(only), 0);
    IS(close(plain), 0);
}

int main(void) {
    options();
    puts("options");
    membership();
    puts("membership");
    if (has_route()) delivery();
    puts("delivery");
    return 0;
}
