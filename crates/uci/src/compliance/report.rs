//! Findings of an engine, counted and shown.

use std::fmt;

use serde::Serialize;

use super::{Finding, Verdict};
use patzer_io::printable;

/// Findings of an engine with their counts by verdict.
#[derive(Debug, Serialize)]
pub struct ComplianceReport {
    pub engine: String,
    pub good: usize,
    pub absent: usize,
    pub warnings: usize,
    pub faults: usize,
    pub findings: Vec<Finding>,
}

impl ComplianceReport {
    pub fn new(engine: String, findings: Vec<Finding>) -> ComplianceReport {
        let count = |verdict| findings.iter().filter(|finding| finding.verdict == verdict).count();
        let [good, absent, warnings, faults] =
            [Verdict::Good, Verdict::Absent, Verdict::Warning, Verdict::Fault].map(count);
        ComplianceReport { engine, good, absent, warnings, faults, findings }
    }
}

impl fmt::Display for ComplianceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ComplianceReport { engine, good, absent, warnings, faults, findings } = self;
        writeln!(f, "{}", printable(engine))?;
        let width = findings.iter().map(|finding| finding.check.len()).max().unwrap_or(0);
        for Finding { check, verdict, value, matters } in findings {
            writeln!(f, "{:8} {check:width$}  {}", word(*verdict), printable(value))?;
            if let Some(matters) = matters {
                writeln!(f, "{:8} {:width$}  → {matters}", "", "")?;
            }
        }
        let s = |count: usize| if count == 1 { "" } else { "s" };
        let (checks, warning_s, fault_s) = (findings.len(), s(*warnings), s(*faults));
        write!(
            f,
            "{checks} checks: {good} good, {absent} absent, {warnings} warning{warning_s}, {faults} fault{fault_s}"
        )
    }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Good => "good",
        Verdict::Absent => "absent",
        Verdict::Warning => "warning",
        Verdict::Fault => "fault",
    }
}
