//! Search data in the comments of match runners: `{+0.35/12 0.50s, n=1234}`.

use super::outline::{Token, outline};

/// Depth, time and nodes of a search, as far as its comment has them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MoveInfo {
    /// Plies; `None` also for a move without a search, which has depth 0.
    pub depth: Option<u64>,
    pub seconds: Option<f64>,
    /// `None` also for 0.
    pub nodes: Option<u64>,
}

impl MoveInfo {
    /// Reads a comment of cutechess, fastchess or patzer.
    pub fn parse(comment: &str) -> MoveInfo {
        let mut info = MoveInfo::default();
        let positive = |number: &str| number.parse().ok().filter(|&count: &u64| count > 0);
        for word in comment.split([' ', ',', '\n', '\r']).filter(|word| !word.is_empty()) {
            if let Some(seconds) = word.strip_suffix('s').and_then(|number| number.parse().ok()) {
                info.seconds = Some(seconds);
            } else if let Some(nodes) = word.strip_prefix("n=") {
                info.nodes = positive(nodes);
            } else if let Some((_, depth)) = word.split_once('/') {
                info.depth = positive(depth);
            }
        }
        info
    }
}

/// Search data of each ply of a movetext, and its last comment with single blanks.
pub fn move_infos(movetext: &[u8]) -> (Vec<MoveInfo>, String) {
    let (mut infos, mut last_comment) = (Vec::new(), String::new());
    outline(movetext, |token| match token {
        Token::Ply(_) => infos.push(MoveInfo::default()),
        Token::Comment(text) => {
            let comment = String::from_utf8_lossy(text);
            if let Some(last) = infos.last_mut() {
                *last = MoveInfo::parse(&comment);
            }
            last_comment = comment.split_whitespace().collect::<Vec<_>>().join(" ");
        }
    });
    (infos, last_comment)
}

/// Reason of a game's end, such as `checkmate`, from its last comment or else from its tag `Termination`.
pub fn end_reason(comment: &str, termination: &str) -> String {
    let known = [
        ("mates", "checkmate"),
        ("stalemate", "stalemate"),
        ("repetition", "repetition"),
        ("fifty", "fifty moves"),
        ("insufficient", "insufficient material"),
        ("on time", "time forfeit"),
        ("out of time", "time forfeit"),
        ("illegal", "illegal move"),
        ("disconnect", "disconnect"),
        ("stalls", "stall"),
        ("SyzygyTB", "tablebase"),
        ("move limit", "move limit"),
        ("Draw by adjudication", "adjudicated draw"),
        ("wins by adjudication", "adjudicated win"),
    ];
    match known.iter().find(|(words, _)| comment.contains(words)) {
        Some((_, reason)) => (*reason).to_string(),
        None if termination.is_empty() => "not told".to_string(),
        None => termination.to_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_gives_what_it_has() {
        let whole = MoveInfo { depth: Some(10), seconds: Some(0.5), nodes: Some(1000) };
        assert_eq!(MoveInfo::parse("+0.10/10 0.50s, n=1000"), whole);
        assert_eq!(MoveInfo::parse("+1.2/8 1.5s, White mates").depth, Some(8));
        let timed = MoveInfo { seconds: Some(0.7), ..MoveInfo::default() };
        assert_eq!([MoveInfo::parse("0.70s"), MoveInfo::parse("/0 0.70s, n=0")], [timed; 2]);
        assert_eq!(MoveInfo::parse("book"), MoveInfo::default());
    }

    #[test]
    fn the_last_comment_says_how_a_game_ended() {
        assert_eq!(end_reason("+M1/3 0.1s, White mates", "normal"), "checkmate");
        assert_eq!(end_reason("0.00/9 1s", "Time Forfeit"), "time forfeit");
        assert_eq!(end_reason("", ""), "not told");
    }
}
