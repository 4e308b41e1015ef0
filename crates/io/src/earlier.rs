/// Handling of the files of an earlier run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Earlier {
    /// Stop at an unfinished run, move a finished one aside.
    Protect,
    /// Start over in its place.
    Overwrite,
    /// Go on with it.
    Resume,
}

impl Earlier {
    /// The handling that a user asks for by at most one of the two.
    pub fn of(resume: bool, overwrite: bool) -> Earlier {
        match (resume, overwrite) {
            (true, _) => Earlier::Resume,
            (_, true) => Earlier::Overwrite,
            _ => Earlier::Protect,
        }
    }
}
