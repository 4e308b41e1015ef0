//! gzip of several members. Zero bytes after a member, which tapes and block devices add, are no part of it.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

/// Members one after the other; `None` at the end of the file.
pub struct Members<R>(Option<GzDecoder<R>>);

impl<R: BufRead> Members<R> {
    pub fn new(raw: R) -> Members<R> {
        Members(Some(GzDecoder::new(raw)))
    }

    /// Goes on to the next member, if there is one. An error, such as an interrupt, leaves the place.
    fn next_member(&mut self) -> io::Result<()> {
        while let Some(member) = &mut self.0 {
            let raw = member.get_mut();
            let bytes = raw.fill_buf()?;
            let (length, zeros) = (bytes.len(), bytes.iter().take_while(|byte| **byte == 0).count());
            raw.consume(zeros);
            if length == 0 {
                self.0 = None;
            } else if zeros < length {
                self.0 = self.0.take().map(|member| GzDecoder::new(member.into_inner()));
                break;
            }
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.0 {
            let length = member.read(buffer)?;
            if length > 0 || buffer.is_empty() {
                return Ok(length);
            }
            self.next_member()?;
        }
        Ok(0)
    }
}
