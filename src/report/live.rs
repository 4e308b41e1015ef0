//! The report of a running match, written again while it runs. Starts no program and takes no lock.

use std::time::{Duration, Instant};

use super::{ReportArgs, compare, html, inputs, outcome, sections};
use crate::{Error, Result, Status, Ui, interrupt};
use patzer_io as io;
use patzer_match::journal::Follower;
use patzer_match::record::PairEntry;

pub(super) fn run(args: &ReportArgs, seconds: u64, ui: &Ui) -> Result<Status> {
    if args.output == std::path::Path::new("-") {
        return Err(Error::usage("--live: name a file for the page with -o"));
    }
    let journals = inputs::journals(&args.runs)?;
    if journals.is_empty() {
        return Err(Error::usage("--live: only the journal of a match changes, and there is none"));
    }
    let mut journals: Vec<Follower<PairEntry>> =
        journals.iter().map(|path| Follower::open(path)).collect::<Result<_>>()?;
    ui.note(format!("{}: written every {seconds} seconds; Ctrl-C ends it", args.output.display()));
    loop {
        // A match that ends while its page is made gets one page more.
        let complete = journals.iter().all(Follower::is_complete);
        let begin = Instant::now();
        let sections = sections(args, ui)?;
        if complete {
            io::write(&args.output, html::page(&sections, &compare(&sections))?.as_bytes())?;
            return outcome(args, &sections, Vec::new(), ui);
        }
        let page = html::live_page(&sections, &compare(&sections), seconds)?;
        io::write(&args.output, page.as_bytes())?;
        // The engines need the CPUs: at most a tenth of one is for the page.
        let pause = Duration::from_secs(seconds).max(9 * begin.elapsed());
        while begin.elapsed() < pause {
            std::thread::sleep(Duration::from_millis(100));
            if interrupt::requested() {
                io::write(&args.output, html::page(&sections, &compare(&sections))?.as_bytes())?;
                return Err(Error::Interrupted("the page is that of the last games"));
            }
        }
        for journal in &mut journals {
            journal.update()?;
        }
    }
}
