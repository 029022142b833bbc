//! Functions of libc under the names by which LLVM calls them in instrumented code: what they access is
//! known by their summaries, as that of libc's own.

type Function<A> = unsafe extern "C" fn(*mut u8, A, usize) -> *mut u8;

macro_rules! copies {
    ($($name:ident = $function:ident($second:ty);)*) => {
        // JUSTIFICATION: libc has these functions, and Rust's own may be inlined.
        unsafe extern "C" {
            $(fn $function(to: *mut u8, second: $second, length: usize) -> *mut u8;)*
        }
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name(to: *mut u8, second: $second, length: usize) -> *mut u8 {
                let function: Function<$second> = $function;
                // SAFETY: whoever calls this promises what that function asks for.
                // JUSTIFICATION: see above.
                unsafe { function(to, second, length) }
            }
        )*
    };
}

copies! {
    __tsan_memcpy = memcpy(*const u8);
    __tsan_memmove = memmove(*const u8);
    __tsan_memset = memset(i32);
}
