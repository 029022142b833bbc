// What random programs are made of. Between two statements the compiler may not move accesses, nor merge
// them: each statement makes the accesses that it says, in its order.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

enum home { AT_STATIC, AT_HEAP, AT_STACK };

struct script {
    enum home home;
    int count;
    void *(*threads[3])(void *);
};

static pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

#define THREAD(name) static void *name(void *argument)
#define BEGIN                        \
    char *shared = (char *)argument; \
    u32 seen = 0;                    \
    BARRIER
#define END return (void *)(uintptr_t)seen;
#define BARRIER __asm__ volatile("" : : : "memory");
#define SEE(value)                                        \
    do {                                                  \
        u64 now = (value);                                \
        seen = seen * 7 + (u32)now + (u32)(now >> 32);    \
    } while (0)

#ifdef __cplusplus
#include <atomic>
#define RELAXED std::memory_order_relaxed
#define ACQUIRE std::memory_order_acquire
#define RELEASE std::memory_order_release
#define ACQ_REL std::memory_order_acq_rel
#define SEQ_CST std::memory_order_seq_cst
#define ATOMIC(type, address) std::atomic_ref<type>(*(type *)(address))
#define LOAD(type, address, order) ATOMIC(type, address).load(order)
#define STORE(type, address, value, order) ATOMIC(type, address).store(value, order)
#define FETCH_ADD(type, address, value, order) ATOMIC(type, address).fetch_add(value, order)
#define EXCHANGE(type, address, value, order) ATOMIC(type, address).exchange(value, order)
#define COMPARE_EXCHANGE(type, address, expected, desired, order)                          \
    do {                                                                                   \
        type old = expected;                                                               \
        ATOMIC(type, address).compare_exchange_strong(old, desired, order, order);         \
        SEE(old);                                                                          \
    } while (0)
#else
#define RELAXED __ATOMIC_RELAXED
#define ACQUIRE __ATOMIC_ACQUIRE
#define RELEASE __ATOMIC_RELEASE
#define ACQ_REL __ATOMIC_ACQ_REL
#define SEQ_CST __ATOMIC_SEQ_CST
#define LOAD(type, address, order) __atomic_load_n((type *)(address), order)
#define STORE(type, address, value, order) __atomic_store_n((type *)(address), value, order)
#define FETCH_ADD(type, address, value, order) __atomic_fetch_add((type *)(address), value, order)
#define EXCHANGE(type, address, value, order) __atomic_exchange_n((type *)(address), value, order)
#define COMPARE_EXCHANGE(type, address, expected, desired, order)                             \
    do {                                                                                      \
        type old = expected;                                                                  \
        __atomic_compare_exchange_n((type *)(address), &old, desired, 0, order, order);       \
        SEE(old);                                                                             \
    } while (0)
#endif
