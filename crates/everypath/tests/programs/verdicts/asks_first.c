// server [tcp | unix | cache] | client [unix]: the server first asks somebody who may not be there, at a
// port, at a path or at the cache of names, and only then listens: at a port, or after unix at a path.
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct place {
    struct sockaddr_storage address;
    socklen_t length;
};

static struct place at_port(int port) {
    struct place place = {.length = sizeof(struct sockaddr_in)};
    struct sockaddr_in *address = (struct sockaddr_in *)&place.address;
    address->sin_family = AF_INET;
    address->sin_port = htons(port);
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return place;
}

static struct place at_path(const char *path) {
    struct place place = {.length = sizeof(struct sockaddr_un)};
    struct sockaddr_un *address = (struct sockaddr_un *)&place.address;
    address->sun_family = AF_UNIX;
    strcpy(address->sun_path, path);
    return place;
}

static int try(struct place place) {
    int end = socket(place.address.ss_family, SOCK_STREAM, 0);
    int result = connect(end, (struct sockaddr *)&place.address, place.length);
    close(end);
    return result;
}

int main(int argc, char **argv) {
    const char *how = argc > 2 ? argv[2] : "cache";
    int is_unix = !strcmp(how, "unix");
    struct place place = is_unix ? at_path("served") : at_port(7000);
    if (argc < 2 || strcmp(argv[1], "server"))
        return try(place) != 0;
    struct place asked = is_unix                ? at_path("absent")
                         : !strcmp(how, "tcp") ? at_port(7001)
                                               : at_path("/var/run/nscd/socket");
    if (!try(asked) || !try(asked))
        return 2;
    int end = socket(place.address.ss_family, SOCK_STREAM, 0);
    if (bind(end, (struct sockaddr *)&place.address, place.length) || listen(end, 1))
        return 1;
    return accept(end, NULL, NULL) < 0;
}
