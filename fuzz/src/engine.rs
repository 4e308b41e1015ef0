//! UCI, from both sides: what engines send, and what a GUI sends to ours.

use std::io::Write;
use std::sync::{Arc, Mutex, OnceLock};

use patzer_engine::uci;
use patzer_eval::Evaluation;
use patzer_uci_client::read_output;
use shakmaty::{Chess, Position};

/// An engine's output says the same however its bytes arrive; moves are legal, commands are single lines.
pub fn output(bytes: &[u8]) {
    let position = match bytes.first() {
        Some(b'9') => patzer_chess::chess960(99),
        _ => Chess::default(),
    };
    let output = read_output(bytes, usize::MAX, &position, "true");
    for command in &output.commands {
        assert!(command.is_empty() || command.starts_with(b"setoption name ") && command.ends_with(b"\n"));
        assert!(command.iter().filter(|byte| **byte < b' ').count() <= 1);
    }
    if let Some(Ok(m)) = output.best {
        assert!(position.is_legal(m));
    }
    let score = output.info.score.unwrap_or(0);
    assert!(score.abs() <= patzer_chess::score::MATE);
    let moves = &output.leaves.moves;
    assert!(
        moves.len() <= 1000 && moves.iter().all(|(text, _)| matches!(text.len(), 4 | 5) && text.is_ascii())
    );
    // A line longer than the buffer loses its middle, by how it arrives.
    if bytes.split(|byte| *byte == b'\n').all(|line| line.len() < 1 << 12) {
        assert_eq!(read_output(bytes, 3, &position, "true"), output);
    }
}

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no thread panics").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A command that ends within milliseconds; `None` if it could take any time, memory or file.
fn harmless(line: &str) -> Option<String> {
    let words: Vec<String> = line.split_whitespace().map(str::to_lowercase).collect();
    let large = || words.iter().any(|word| word.parse::<i128>().is_ok_and(|number| number > 2));
    let names = |name: &str| words.iter().any(|word| word.contains(name));
    match words.first()?.as_str() {
        "bench" | "genfens" | "quit" => None,
        "setoption" if names("evalfile") || (names("hash") || names("threads")) && large() => None,
        "go" if names("perft") => {
            let perft = words.len() == 3 && line.split_whitespace().nth(1) == Some("perft");
            (perft && !large()).then(|| line.to_string())
        }
        "go" => Some(format!("{line} nodes 20 depth 2")),
        _ => Some(line.to_string()),
    }
}

/// Commands to our engine: a thread never panics, and every search is answered once, by a move or by none.
pub fn commands(bytes: &[u8]) {
    static EVALUATION: OnceLock<Evaluation> = OnceLock::new();
    let text = String::from_utf8_lossy(bytes);
    let lines = text.lines().take(30).filter_map(harmless);
    let commands: Vec<String> =
        std::iter::once("setoption name Hash value 1".to_string()).chain(lines).collect();
    let written = Written::default();
    uci::carry_out_to(&commands, written.clone(), EVALUATION.get_or_init(Evaluation::default_hce).clone());
    let written = String::from_utf8(written.0.lock().expect("no thread panics").clone()).expect("text");
    let searches = |line: &&String| line.split_whitespace().next() == Some("go") && line.ends_with("depth 2");
    let answers = written.lines().filter(|line| line.starts_with("bestmove ")).count();
    assert_eq!(answers, commands.iter().filter(searches).count(), "{written}");
}
