//! Functions that have nothing to do: what they would say is seen in the instructions of the program.

macro_rules! nothing {
    ($($name:ident)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name() {}
        )*
    };
}

nothing!(
    __tsan_init
    __tsan_flush_memory
    __tsan_func_entry __tsan_func_exit
    __tsan_ignore_thread_begin __tsan_ignore_thread_end
    __tsan_vptr_read __tsan_vptr_update
    __tsan_read1 __tsan_read2 __tsan_read4 __tsan_read8 __tsan_read16
    __tsan_write1 __tsan_write2 __tsan_write4 __tsan_write8 __tsan_write16
    __tsan_read1_pc __tsan_read2_pc __tsan_read4_pc __tsan_read8_pc __tsan_read16_pc
    __tsan_write1_pc __tsan_write2_pc __tsan_write4_pc __tsan_write8_pc __tsan_write16_pc
    __tsan_unaligned_read2 __tsan_unaligned_read4 __tsan_unaligned_read8 __tsan_unaligned_read16
    __tsan_unaligned_write2 __tsan_unaligned_write4 __tsan_unaligned_write8 __tsan_unaligned_write16
    __tsan_read_write1 __tsan_read_write2 __tsan_read_write4 __tsan_read_write8 __tsan_read_write16
    __tsan_unaligned_read_write2 __tsan_unaligned_read_write4 __tsan_unaligned_read_write8
    __tsan_unaligned_read_write16
    __tsan_volatile_read1 __tsan_volatile_read2 __tsan_volatile_read4 __tsan_volatile_read8
    __tsan_volatile_read16
    __tsan_volatile_write1 __tsan_volatile_write2 __tsan_volatile_write4 __tsan_volatile_write8
    __tsan_volatile_write16
    __tsan_unaligned_volatile_read2 __tsan_unaligned_volatile_read4
    __tsan_unaligned_volatile_read8 __tsan_unaligned_volatile_read16
    __tsan_unaligned_volatile_write2 __tsan_unaligned_volatile_write4
    __tsan_unaligned_volatile_write8 __tsan_unaligned_volatile_write16
    __tsan_read_range __tsan_write_range __tsan_read_range_pc __tsan_write_range_pc
    __tsan_acquire __tsan_release
    __tsan_mutex_create __tsan_mutex_destroy
    __tsan_mutex_pre_lock __tsan_mutex_post_lock
    __tsan_mutex_pre_unlock __tsan_mutex_post_unlock
    __tsan_mutex_pre_signal __tsan_mutex_post_signal
    __tsan_mutex_pre_divert __tsan_mutex_post_divert
    AnnotateHappensBefore AnnotateHappensAfter
    AnnotateBenignRace AnnotateBenignRaceSized
    AnnotateIgnoreReadsBegin AnnotateIgnoreReadsEnd
    AnnotateIgnoreWritesBegin AnnotateIgnoreWritesEnd
    AnnotateIgnoreSyncBegin AnnotateIgnoreSyncEnd
    AnnotateNewMemory AnnotateThreadName
    AnnotateRWLockCreate AnnotateRWLockDestroy AnnotateRWLockAcquired AnnotateRWLockReleased
);
