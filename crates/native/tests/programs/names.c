// Names of hosts: those that need no network.
#include "net.h"
#include <netdb.h>

static struct addrinfo *look_up(const char *host, const char *port, int family, int flags) {
    struct addrinfo hints = {.ai_family = family, .ai_socktype = SOCK_STREAM, .ai_flags = flags};
    struct addrinfo *found = NULL;
    IS(getaddrinfo(host, port, &hints, &found), 0);
    CHECK(found != NULL);
    return found;
}

static void show(struct addrinfo *found) {
    char host[64], port[16];
    IS(getnameinfo(found->ai_addr, found->ai_addrlen, host, sizeof host, port, sizeof port,
                   NI_NUMERICHOST | NI_NUMERICSERV), 0);
    printf("%d %d %s %s\n", found->ai_family, found->ai_socktype, host, port);
    freeaddrinfo(found);
}

int main(void) {
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST}, *found;
    show(look_up("127.0.0.1", "80", AF_UNSPEC, 0));
    show(look_up("::1", "8080", AF_UNSPEC, AI_NUMERICHOST | AI_NUMERICSERV));
    show(look_up("localhost", "7", AF_INET, 0));
    show(look_up(NULL, "9", AF_INET, 0));
    show(look_up(NULL, "9", AF_INET, AI_PASSIVE));
    show(look_up(NULL, "9", AF_INET6, AI_PASSIVE));
    IS(getaddrinfo("localhost", "80", &hints, &found), EAI_NONAME);
    IS(getaddrinfo(NULL, NULL, NULL, &found), EAI_NONAME);
    hints.ai_flags = AI_NUMERICSERV;
    IS(getaddrinfo("127.0.0.1", "http", &hints, &found), EAI_NONAME);
    printf("%s\n", gai_strerror(EAI_NONAME));
    struct hostent *entry = gethostbyname("127.0.0.1");
    CHECK(entry != NULL && entry->h_length == 4);
    // A connection to a name.
    int listener = listening(AF_INET), server;
    char port[16];
    snprintf(port, sizeof port, "%d", ntohs(name_of(listener).v4.sin_port));
    found = look_up("localhost", port, AF_INET, 0);
    int client = socket(found->ai_family, found->ai_socktype, found->ai_protocol);
    IS(connect(client, found->ai_addr, found->ai_addrlen), 0);
    freeaddrinfo(found);
    server = accept(listener, NULL, NULL);
    CHECK(server >= 0);
    IS(close(client) + close(server) + close(listener), 0);
    puts("connected");
    return 0;
}
