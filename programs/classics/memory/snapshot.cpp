// A reader copies a pair of numbers while a writer changes them one by one.
// With `fixed` both take a lock.
#include <cassert>
#include <memory>
#include <mutex>
#include <thread>

struct Range {
    std::mutex mutex;
    long low = 0, high = 1;
};

static bool fixed;

template <typename Action> static void with(Range &range, Action action) {
    if (fixed) {
        std::lock_guard<std::mutex> guard(range.mutex);
        action();
    } else {
        action();
    }
}

int main(int count, char **) {
    fixed = count > 1;
    auto range = std::make_shared<Range>();
    std::thread writer([range] {
        with(*range, [&] {
            range->low = 10;
            asm volatile("" : : : "memory");
            range->high = 11;
        });
    });
    long low = 0, high = 0;
    with(*range, [&] {
        low = range->low;
        asm volatile("" : : : "memory");
        high = range->high;
    });
    assert(high == low + 1);
    writer.join();
}
