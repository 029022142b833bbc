// Two threads use a static variable of a function, which the first one initialises.
#include <cassert>
#include <thread>

struct Settings {
    int port;
    explicit Settings(int port) : port(port) {}
};

static int port() {
    static Settings settings(80);
    return settings.port;
}

int main() {
    std::thread other([] { assert(port() == 80); });
    assert(port() == 80);
    other.join();
}
