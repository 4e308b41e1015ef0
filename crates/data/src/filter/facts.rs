//! What the tags of a game say that its positions do not: ratings, time control, how it ended.
//!
//! In: the text of one game, before and after the first move. Out: [`GameFacts`]. Only read where a filter asks for
//! it. The ends are told by the words that cutechess, fastchess, TCEC, Lichess and chess.com use: the tag Termination,
//! TerminationDetails beside it, and where both are silent the game's last comment (`White loses on time`).

use patzer_pgn::tags;

/// How a game ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By the rules, by agreement or by resignation.
    Board,
    /// A player ran out of time.
    TimeForfeit,
    /// An illegal move, or another breach of the rules.
    IllegalMove,
    /// A player left, crashed, or stopped answering.
    Disconnect,
    /// It did not end.
    Unterminated,
    /// Someone else decided.
    Adjudication,
}

/// What a game's tags say.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct GameFacts {
    /// White's rating.
    pub white_elo: Option<u16>,
    /// Black's rating.
    pub black_elo: Option<u16>,
    /// Seconds that a player has for 40 moves, of the first period: base time and increments.
    pub seconds: Option<f64>,
    /// How it ended.
    pub end: Option<End>,
}

impl GameFacts {
    /// Reads the tags in the text before the movetext, and the movetext's last comment.
    pub fn of(text: &[u8], movetext: &[u8]) -> GameFacts {
        let mut facts = GameFacts::default();
        let (mut tag, mut details) = (None, None);
        for (name, value) in tags::Tags::new(text).iter() {
            let value = tags::plain(value);
            match name {
                b"WhiteElo" => facts.white_elo = value.trim().parse().ok(),
                b"BlackElo" => facts.black_elo = value.trim().parse().ok(),
                b"TimeControl" => facts.seconds = seconds(value.trim()),
                b"Termination" => tag = end(&value),
                b"TerminationDetails" => details = end(&value),
                _ => {}
            }
        }
        // `normal` may stand for want of a better word, so what is more exact goes first.
        let exact = tag.filter(|end| *end != End::Board);
        facts.end = exact.or(details).or(tag).or_else(|| last_comment(movetext));
        facts
    }
}

/// Seconds for 40 moves of the first period of `180+2`, `40/9000+5`, `600`, `40/7200:3600`, `*60`.
fn seconds(text: &str) -> Option<f64> {
    let first = text.split(':').next()?.trim_start_matches('*');
    let (moves, clock) = match first.split_once('/') {
        Some((moves, clock)) => (moves.parse::<f64>().ok().filter(|moves| *moves > 0.0)?, clock),
        None => (40.0, first),
    };
    let (base, increment) = clock.split_once('+').unwrap_or((clock, "0"));
    let number = |text: &str| text.parse::<f64>().ok().filter(|v| v.is_finite() && *v >= 0.0);
    Some(number(base)? * 40.0 / moves + 40.0 * number(increment)?)
}

/// What ended a game, by the words for it.
fn end(text: &str) -> Option<End> {
    const WORDS: &[(End, &[&str])] = &[
        (End::TimeForfeit, &["time forfeit", "on time", "timeout", "time out"]),
        (End::IllegalMove, &["illegal", "rules infraction", "invalid"]),
        (End::Disconnect, &["abandon", "disconnect", "stall", "crash", "forfeit"]),
        (End::Unterminated, &["unterminated", "interrupt"]),
        (End::Adjudication, &["adjudicat", "tcec", "tablebase", "syzygy"]),
        (End::Board, &["normal", "mate", "repetition", "fifty", "50", "insufficient", "agree", "resign"]),
    ];
    let text = text.to_ascii_lowercase();
    WORDS.iter().find(|(_, words)| words.iter().any(|word| text.contains(word))).map(|(end, _)| *end)
}

/// What ended a game, by its last comment: `{White mates}` or `{+M1/11 0.08s, White mates}`.
fn last_comment(movetext: &[u8]) -> Option<End> {
    let close = memchr::memrchr(b'}', movetext)?;
    let open = memchr::memrchr(b'{', &movetext[..close])?;
    let comment = String::from_utf8_lossy(&movetext[open + 1..close]);
    let said = comment.rsplit(',').next()?.split_whitespace().collect::<Vec<_>>().join(" ");
    let of_the_end = ["White", "Black", "Draw", "No result"].iter().any(|word| said.starts_with(word));
    of_the_end.then(|| end(&said)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_told_by_the_words_that_runners_use() {
        for (text, expected) in [
            ("time forfeit", End::TimeForfeit),
            ("Time forfeit", End::TimeForfeit),
            ("dinko72 won on time", End::TimeForfeit),
            ("illegal move", End::IllegalMove),
            ("Rules infraction", End::IllegalMove),
            ("stalled connection", End::Disconnect),
            ("abandoned", End::Disconnect),
            ("unterminated", End::Unterminated),
            ("adjudication", End::Adjudication),
            ("TCEC draw rule", End::Adjudication),
            ("SyzygyTB", End::Adjudication),
            ("Normal", End::Board),
            ("3-Fold repetition", End::Board),
            ("Stalemate", End::Board),
        ] {
            assert_eq!(end(text), Some(expected), "{text}");
        }
        assert_eq!(end("?"), None);
    }

    #[test]
    fn a_word_more_exact_than_normal_is_believed() {
        let facts =
            GameFacts::of(b"[Termination \"normal\"]\n[TerminationDetails \"White loses on time\"]\n", b"");
        assert_eq!(facts.end, Some(End::TimeForfeit));
        let by_comment = |text: &str| GameFacts::of(b"", text.as_bytes()).end;
        assert_eq!(
            by_comment("1. e4 e5 {+0.1/9 0.5s, Black's connection\nstalls} 1-0"),
            Some(End::Disconnect)
        );
        assert_eq!(by_comment("1. e4 {Black disconnects} 1-0"), Some(End::Disconnect));
        assert_eq!(by_comment("1. e4 {a time forfeit is near} e5 1-0"), None);
        assert_eq!(by_comment("1. e4 e5 1-0"), None);
    }

    #[test]
    fn time_controls_are_seconds_for_forty_moves() {
        for (text, expected) in [
            ("180+2", Some(260.0)),
            ("600", Some(600.0)),
            ("40/9000+5", Some(9200.0)),
            ("20/60", Some(120.0)),
            ("40/7200:3600", Some(7200.0)),
            ("8.0+0.08", Some(11.2)),
            ("-", None),
            ("?", None),
            ("inf", None),
        ] {
            assert_eq!(seconds(text), expected, "{text}");
        }
    }

    #[test]
    fn ratings_are_read_where_there_are_any() {
        let facts =
            GameFacts::of(b"\xef\xbb\xbf[Event \"x\"]\r\n[WhiteElo \"2400\"]\r\n[BlackElo \"?\"]\r\n", b"");
        assert_eq!((facts.white_elo, facts.black_elo), (Some(2400), None));
    }
}
