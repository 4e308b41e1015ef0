//! Templates: lines between `//@if FLAG`, `//@else` and `//@end` are conditional, `@NAME@` is a value.

use super::code::Code;

/// The templates, in the order of what they write.
const C: [&str; 6] = [
    include_str!("c/types.h.in"),
    include_str!("c/accumulators.h.in"),
    include_str!("c/blocks.h.in"),
    include_str!("c/update.h.in"),
    include_str!("c/output.h.in"),
    include_str!("c/interface.h.in"),
];
const RUST: [&str; 6] = [
    include_str!("rust/weights.rs.in"),
    include_str!("rust/stack.rs.in"),
    include_str!("rust/ply.rs.in"),
    include_str!("rust/blocks.rs.in"),
    include_str!("rust/output.rs.in"),
    include_str!("rust/tests.rs.in"),
];

impl Code<'_> {
    /// Fills the language's templates; `table` is the self-test.
    pub fn render(&self, table: &[(String, i32)]) -> String {
        let template = if self.is_rust() { RUST } else { C };
        let mut written = String::new();
        let mut open: Vec<bool> = Vec::new();
        for line in template.into_iter().flat_map(str::lines) {
            if let Some(condition) = line.strip_prefix("//@") {
                match condition.split_once(' ') {
                    Some((_, flag)) => {
                        let flag =
                            flag.strip_prefix('!').map_or_else(|| self.has(flag), |flag| !self.has(flag));
                        open.push(flag);
                    }
                    None if condition == "else" => {
                        let last = open.pop().unwrap_or_default();
                        open.push(!last);
                    }
                    None => drop(open.pop()),
                }
            } else if open.iter().all(|open| *open) {
                for (i, part) in line.split('@').enumerate() {
                    match i % 2 {
                        0 => written.push_str(part),
                        _ => written.push_str(&self.value(part, table)),
                    }
                }
                written.push('\n');
            }
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use patzer_eval::nnue::Activation;

    use super::*;

    #[test]
    fn the_templates_have_code_for_every_activation() {
        for template in [C, RUST] {
            let lines: Vec<&str> = template.into_iter().flat_map(str::lines).collect();
            for activation in Activation::ALL {
                let condition = format!("//@if {}", activation.name());
                assert!(lines.contains(&condition.as_str()), "{condition}");
            }
        }
    }
}
