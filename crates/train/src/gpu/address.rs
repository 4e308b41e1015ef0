//! Addresses of device memory.

/// Device address; 0 is null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Address(pub u64);

impl Address {
    pub(crate) const NONE: Address = Address(0);

    pub(crate) fn offset(self, elements: usize, size: usize) -> Address {
        Address(self.0 + (elements * size) as u64)
    }
}
