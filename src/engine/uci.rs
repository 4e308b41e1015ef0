//! UCI.

/// Serves UCI on standard input.
pub fn serve(_evaluation: Option<()>) -> crate::error::Result<()> {
    Ok(())
}
