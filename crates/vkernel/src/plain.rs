//! Values as they lie in the program's memory.

/// A value that any bytes are, in the layout of C.
pub trait Plain: Copy {
    /// How many bytes it takes.
    const SIZE: usize;

    /// Reads it by a function that reads bytes from an offset on.
    fn read<E>(bytes: impl FnMut(usize, &mut [u8]) -> Result<(), E>) -> Result<Self, E>;

    /// Writes it by a function that writes bytes to an offset.
    fn write<E>(self, bytes: impl FnMut(usize, &[u8]) -> Result<(), E>) -> Result<(), E>;
}

macro_rules! integers {
    ($($integer:ty)*) => {
        $(impl Plain for $integer {
            const SIZE: usize = size_of::<$integer>();

            #[inline(always)]
            fn read<E>(
                mut bytes: impl FnMut(usize, &mut [u8]) -> Result<(), E>,
            ) -> Result<Self, E> {
                let mut value = [0; size_of::<$integer>()];
                bytes(0, &mut value)?;
                Ok(<$integer>::from_le_bytes(value))
            }

            #[inline(always)]
            fn write<E>(
                self,
                mut bytes: impl FnMut(usize, &[u8]) -> Result<(), E>,
            ) -> Result<(), E> {
                bytes(0, &self.to_le_bytes())
            }
        })*
    };
}
integers!(u8 u16 u32 u64 usize i16 i32 i64);

impl<T: Plain + Default, const N: usize> Plain for [T; N] {
    const SIZE: usize = N * T::SIZE;

    fn read<E>(mut bytes: impl FnMut(usize, &mut [u8]) -> Result<(), E>) -> Result<Self, E> {
        let mut values = [T::default(); N];
        for (at, value) in values.iter_mut().enumerate() {
            *value = T::read(|offset, out| bytes(at * T::SIZE + offset, out))?;
        }
        Ok(values)
    }

    fn write<E>(self, mut bytes: impl FnMut(usize, &[u8]) -> Result<(), E>) -> Result<(), E> {
        for (at, value) in self.into_iter().enumerate() {
            value.write(|offset, part| bytes(at * T::SIZE + offset, part))?;
        }
        Ok(())
    }
}
