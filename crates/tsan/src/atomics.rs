//! Atomic accesses. The memory order that a program asks for makes no difference: what is explored is
//! sequentially consistent.

use core::sync::atomic::Ordering::{Acquire, Release, SeqCst};
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, fence};

/// Memory orders as the compilers number them.
type Order = i32;

/// `memory_order_seq_cst`.
const SEQUENTIALLY_CONSISTENT: Order = 5;

/// Operations that modify: all have the same arguments and return what was there before.
macro_rules! modify {
    ($atomic:ident $word:ident $($name:ident $operation:ident)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name(address: *mut $word, operand: $word, _: Order) -> $word {
                // SAFETY: the program says that there is an atomic variable. JUSTIFICATION: it speaks C.
                unsafe { $atomic::from_ptr(address) }.$operation(operand, SeqCst)
            }
        )*
    };
}

macro_rules! atomics {
    (
        $atomic:ident $word:ident
        $load:ident $store:ident $strong:ident $weak:ident $value:ident
        $($name:ident $operation:ident)*
    ) => {
        #[unsafe(no_mangle)]
        extern "C" fn $load(address: *mut $word, _: Order) -> $word {
            // SAFETY: the program says that there is an atomic variable. JUSTIFICATION: it speaks C.
            unsafe { $atomic::from_ptr(address) }.load(Acquire)
        }

        // Not sequentially consistent: that would be an exchange, of which one cannot tell that its
        // result is not used.
        #[unsafe(no_mangle)]
        extern "C" fn $store(address: *mut $word, value: $word, _: Order) {
            // SAFETY: the program says that there is an atomic variable. JUSTIFICATION: it speaks C.
            unsafe { $atomic::from_ptr(address) }.store(value, Release)
        }

        /// Returns what was there before.
        #[unsafe(no_mangle)]
        extern "C" fn $value(
            address: *mut $word,
            expected: $word,
            desired: $word,
            _: Order,
            _: Order,
        ) -> $word {
            // SAFETY: the program says that there is an atomic variable. JUSTIFICATION: it speaks C.
            let word = unsafe { $atomic::from_ptr(address) };
            match word.compare_exchange(expected, desired, SeqCst, SeqCst) {
                Ok(found) | Err(found) => found,
            }
        }

        /// Returns whether it succeeded; else what was there takes the place of what was expected.
        #[unsafe(no_mangle)]
        extern "C" fn $strong(
            address: *mut $word,
            expected: *mut $word,
            desired: $word,
            success: Order,
            failure: Order,
        ) -> i32 {
            // SAFETY: the program passes a pointer to a variable of its own. JUSTIFICATION: it speaks C.
            let wanted = unsafe { expected.read() };
            let found = $value(address, wanted, desired, success, failure);
            if found != wanted {
                // SAFETY: as above. JUSTIFICATION: as above.
                unsafe { expected.write(found) };
            }
            i32::from(found == wanted)
        }

        /// The processor has no comparison that fails without a reason.
        #[unsafe(no_mangle)]
        extern "C" fn $weak(
            address: *mut $word,
            expected: *mut $word,
            desired: $word,
            success: Order,
            failure: Order,
        ) -> i32 {
            $strong(address, expected, desired, success, failure)
        }

        modify!($atomic $word $($name $operation)*);
    };
}

atomics!(
    AtomicU8 u8
    __tsan_atomic8_load __tsan_atomic8_store
    __tsan_atomic8_compare_exchange_strong __tsan_atomic8_compare_exchange_weak
    __tsan_atomic8_compare_exchange_val
    __tsan_atomic8_exchange swap __tsan_atomic8_fetch_add fetch_add
    __tsan_atomic8_fetch_sub fetch_sub __tsan_atomic8_fetch_and fetch_and
    __tsan_atomic8_fetch_or fetch_or __tsan_atomic8_fetch_xor fetch_xor
    __tsan_atomic8_fetch_nand fetch_nand
);
atomics!(
    AtomicU16 u16
    __tsan_atomic16_load __tsan_atomic16_store
    __tsan_atomic16_compare_exchange_strong __tsan_atomic16_compare_exchange_weak
    __tsan_atomic16_compare_exchange_val
    __tsan_atomic16_exchange swap __tsan_atomic16_fetch_add fetch_add
    __tsan_atomic16_fetch_sub fetch_sub __tsan_atomic16_fetch_and fetch_and
    __tsan_atomic16_fetch_or fetch_or __tsan_atomic16_fetch_xor fetch_xor
    __tsan_atomic16_fetch_nand fetch_nand
);
atomics!(
    AtomicU32 u32
    __tsan_atomic32_load __tsan_atomic32_store
    __tsan_atomic32_compare_exchange_strong __tsan_atomic32_compare_exchange_weak
    __tsan_atomic32_compare_exchange_val
    __tsan_atomic32_exchange swap __tsan_atomic32_fetch_add fetch_add
    __tsan_atomic32_fetch_sub fetch_sub __tsan_atomic32_fetch_and fetch_and
    __tsan_atomic32_fetch_or fetch_or __tsan_atomic32_fetch_xor fetch_xor
    __tsan_atomic32_fetch_nand fetch_nand
);
atomics!(
    AtomicU64 u64
    __tsan_atomic64_load __tsan_atomic64_store
    __tsan_atomic64_compare_exchange_strong __tsan_atomic64_compare_exchange_weak
    __tsan_atomic64_compare_exchange_val
    __tsan_atomic64_exchange swap __tsan_atomic64_fetch_add fetch_add
    __tsan_atomic64_fetch_sub fetch_sub __tsan_atomic64_fetch_and fetch_and
    __tsan_atomic64_fetch_or fetch_or __tsan_atomic64_fetch_xor fetch_xor
    __tsan_atomic64_fetch_nand fetch_nand
);

#[unsafe(no_mangle)]
extern "C" fn __tsan_atomic_thread_fence(order: Order) {
    if order == SEQUENTIALLY_CONSISTENT {
        fence(SeqCst);
    }
}

/// Signals come between steps only.
#[unsafe(no_mangle)]
extern "C" fn __tsan_atomic_signal_fence(_: Order) {}
