// Double-checked locking without an atomic: the pointer is stored before what it points to is whole.
#include <cassert>
#include <mutex>
#include <thread>

struct Settings {
    int port = 0;
};

static Settings *settings;
static std::mutex lock;

static int port() {
    if (settings == nullptr) {
        std::lock_guard<std::mutex> guard(lock);
        if (settings == nullptr) {
            settings = new Settings;
            settings->port = 80;
        }
    }
    return settings->port;
}

int main() {
    int first = 0, second = 0;
    std::thread one([&] { first = port(); });
    std::thread two([&] { second = port(); });
    one.join();
    two.join();
    assert(first == 80 && second == 80);
}
