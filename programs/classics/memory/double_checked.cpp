// Double-checked locking: a thread that finds the pointer uses an object that is not filled in yet.
// With `fixed` the pointer is stored last, and atomically.
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

struct Settings {
    int size = 0;
};

static Settings *plain;
static std::atomic<Settings *> published;
static std::mutex mutex;
static bool fixed;

static Settings *get() {
    if (fixed) {
        if (Settings *found = published.load(std::memory_order_acquire)) return found;
        std::lock_guard<std::mutex> guard(mutex);
        if (!published.load(std::memory_order_relaxed)) {
            Settings *made = new Settings;
            made->size = 8;
            published.store(made, std::memory_order_release);
        }
        return published.load(std::memory_order_relaxed);
    }
    if (plain) return plain;
    std::lock_guard<std::mutex> guard(mutex);
    if (!plain) {
        plain = new Settings;
        asm volatile("" : : : "memory");
        plain->size = 8;
    }
    return plain;
}

int main(int count, char **) {
    fixed = count > 1;
    std::thread other([] { assert(get()->size == 8); });
    assert(get()->size == 8);
    other.join();
}
