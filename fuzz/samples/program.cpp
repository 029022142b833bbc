// Something of everything that is patched or unwound: locks, atomics, exceptions, static variables.
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>

static std::mutex lock;
static std::atomic<int> count;

static int add(int amount) {
    std::lock_guard<std::mutex> guard(lock);
    static int total = amount;
    if (amount < 0) throw std::runtime_error("negative");
    count.fetch_add(amount);
    return total += amount;
}

int main(int arguments, char **) {
    std::thread other([=] {
        while (!count.load()) std::this_thread::yield();
        add(arguments);
    });
    int result = 0;
    try {
        result = add(1) + add(-1);
    } catch (const std::runtime_error &) {
        result = 1;
    }
    other.join();
    return result;
}
