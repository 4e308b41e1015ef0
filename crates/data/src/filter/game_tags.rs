//! The tags of a game that filters of games use: ratings, time control, termination, names.
//!
//! How a game ended is recognised by the words of cutechess, fastchess, TCEC, Lichess and chess.com: in the tag
//! Termination, in TerminationDetails, and where both are silent in the last comment (`White loses on time`).

use patzer_pgn::tags;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Board,
    TimeForfeit,
    /// An illegal move, or another breach of the rules.
    IllegalMove,
    Disconnect,
    Unterminated,
    Adjudication,
}

/// The tags of a game that filters use.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GameTags {
    pub white_elo: Option<u16>,
    pub black_elo: Option<u16>,
    /// Seconds of White and Black for 40 moves in the first period: base time and increments.
    pub seconds: [Option<f64>; 2],
    pub end: Option<End>,
    pub names: GameNames,
    /// The tag section as it is read.
    pub text: Vec<u8>,
    /// Seconds that each ply's move leaves its player, by ply; NaN where no comment says. Empty unless a filter asks.
    pub clocks: Vec<f32>,
}

/// Tags that filters match as text; empty if missing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GameNames {
    pub white: String,
    pub black: String,
    pub event: String,
    pub site: String,
    pub round: String,
    pub eco: String,
    pub date: String,
}

impl GameTags {
    /// Reads the tags in `text` and, if they do not say how the game ended, the last comment of the movetext.
    pub fn of(text: &[u8], movetext: &[u8]) -> GameTags {
        let mut found = GameTags { text: text.to_vec(), ..GameTags::default() };
        let (mut tag, mut details, mut of_both) = (None, None, None);
        for (name, value) in tags::Tags::new(text).iter() {
            let value = tags::plain(value);
            match name {
                b"WhiteElo" => found.white_elo = value.trim().parse().ok(),
                b"BlackElo" => found.black_elo = value.trim().parse().ok(),
                b"TimeControl" => of_both = seconds(value.trim()),
                b"WhiteTimeControl" => found.seconds[0] = seconds(value.trim()),
                b"BlackTimeControl" => found.seconds[1] = seconds(value.trim()),
                b"Termination" => tag = end(&value),
                b"TerminationDetails" => details = end(&value),
                b"White" => found.names.white = value.into_owned(),
                b"Black" => found.names.black = value.into_owned(),
                b"Event" => found.names.event = value.into_owned(),
                b"Site" => found.names.site = value.into_owned(),
                b"Round" => found.names.round = value.into_owned(),
                b"ECO" => found.names.eco = value.into_owned(),
                b"Date" => found.names.date = value.into_owned(),
                _ => {}
            }
        }
        // Match runners write the time of each player where the two differ.
        found.seconds = found.seconds.map(|own| own.or(of_both));
        // `normal` is also a fallback of PGN writers, so a more exact word wins.
        let exact = tag.filter(|end| *end != End::Board);
        found.end = exact.or(details).or(tag).or_else(|| last_comment(movetext));
        found
    }

    /// The value of a tag; empty if it is missing.
    pub fn value(&self, tag: &str) -> String {
        tags::Tags::new(&self.text).text(tag)
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

fn end(text: &str) -> Option<End> {
    // A player's name comes before, and may hold any word.
    const REASONS: [&str; 4] = [" won by ", " won on ", " won - ", " drawn by "];
    const WORDS: &[(End, &[&str])] = &[
        // `timeout vs insufficient material`.
        (End::Board, &["vs insufficient"]),
        (End::TimeForfeit, &["time forfeit", "on time", "timeout", "time out"]),
        (End::IllegalMove, &["illegal", "rules infraction", "invalid"]),
        (End::Disconnect, &["abandon", "disconnect", "stall", "crash", "forfeit"]),
        (End::Unterminated, &["unterminated", "interrupt"]),
        (End::Adjudication, &["adjudicat", "tcec", "tablebase", "syzygy"]),
        (End::Board, &["normal", "mate", "repetition", "fifty", "50", "insufficient", "agree", "resign"]),
    ];
    let text = text.to_ascii_lowercase();
    // The last word stays, as in `on time`.
    let reason = REASONS.iter().filter_map(|words| text.rfind(words).map(|at| at + words.len() - 3)).max();
    let text = &text[reason.unwrap_or(0)..];
    WORDS.iter().find(|(_, words)| words.iter().any(|word| text.contains(word))).map(|(end, _)| *end)
}

/// End of a game by its last comment: `{White mates}` or `{+M1/11 0.08s, White mates}`.
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
    fn ends_are_recognised_by_the_words_of_match_runners() {
        for (text, expected) in [
            ("time forfeit", End::TimeForfeit),
            ("Time forfeit", End::TimeForfeit),
            ("dinko72 won on time", End::TimeForfeit),
            ("CrashTest won by resignation", End::Board),
            ("StallionKing won by checkmate", End::Board),
            ("Timeout99 won by resignation", End::Board),
            ("Timeout99 won - game abandoned", End::Disconnect),
            ("Normal won on time", End::TimeForfeit),
            ("Game drawn by timeout vs insufficient material", End::Board),
            ("Game drawn by agreement", End::Board),
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
        let found =
            GameTags::of(b"[Termination \"normal\"]\n[TerminationDetails \"White loses on time\"]\n", b"");
        assert_eq!(found.end, Some(End::TimeForfeit));
        let by_comment = |text: &str| GameTags::of(b"", text.as_bytes()).end;
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
        let found =
            GameTags::of(b"\xef\xbb\xbf[Event \"x\"]\r\n[WhiteElo \"2400\"]\r\n[BlackElo \"?\"]\r\n", b"");
        assert_eq!((found.white_elo, found.black_elo), (Some(2400), None));
    }
}
