//! Writes games as PGN in the format of fastchess and cutechess-cli.
//!
//! Every move carries a comment `{+0.35/12 0.050s, n=5000, nps=100000}`: score from the mover's side in
//! pawns, or `+M5` for mate in five plies; depth, time, nodes. Where only nodes or depth limit in-process
//! players, times are 0, so that equal games are equal bytes.

use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use shakmaty::fen::Fen;
use shakmaty::san::San;
use shakmaty::{Chess, Color, EnPassantMode, Position};

use crate::{Control, Game, Pair, PlayedMove, Reason, TimeSettings};
use patzer_chess::score::{MATE, Score, is_mate};

#[derive(Debug, Clone)]
pub struct Header {
    pub event: String,
    pub names: Vec<String>,
    /// Names from `id name`; `None` for players in this process.
    pub engines: Vec<Option<String>>,
    pub controls: Vec<Control>,
    pub times: bool,
    /// `None` for reproducible games.
    pub date: Option<String>,
}

impl Header {
    pub fn new(event: &str, names: &[String], time_settings: &[TimeSettings]) -> Header {
        let controls: Vec<Control> =
            time_settings.iter().map(|time_settings| time_settings.control).collect();
        Header {
            event: event.to_string(),
            names: names.to_vec(),
            engines: vec![None; names.len()],
            times: !controls.iter().all(Control::deterministic),
            controls,
            date: None,
        }
    }
}

pub fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    day((since.as_secs() / 86_400) as i64)
}

/// Date of a day number since 1970-01-01. Source: Hinnant, "chrono-Compatible Low-Level Date Algorithms".
fn day(number: i64) -> String {
    let z = number + 719_468;
    let (era, of_era) = (z.div_euclid(146_097), z.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    format!("{:04}.{month:02}.{day:02}", year + 400 * era + i64::from(month <= 2))
}

const WIDTH: usize = 80;

/// Writes both games of a pair, each with an empty line after it.
pub fn pair(pair: &Pair, header: &Header) -> String {
    let plies: usize = pair.games.iter().map(|game| game.moves.len()).sum();
    let mut out = String::with_capacity(48 * plies + 1024);
    for (number, (game, players)) in pair.seated().into_iter().enumerate() {
        write_game(&mut out, game, header, players, &format!("{}.{}", pair.index + 1, number + 1));
    }
    out
}

struct Movetext<'a> {
    out: &'a mut String,
    column: usize,
    token: String,
}

impl Movetext<'_> {
    fn push(&mut self) {
        if self.column > 0 && self.column + 1 + self.token.len() > WIDTH {
            self.out.push('\n');
            self.column = 0;
        } else if self.column > 0 {
            self.out.push(' ');
            self.column += 1;
        }
        self.out.push_str(&self.token);
        self.column += self.token.len();
        self.token.clear();
    }
}

/// Writes a game with an empty line after it. `players` are the indices of White and Black.
pub fn write_game(out: &mut String, game: &Game, header: &Header, players: [usize; 2], round: &str) {
    write_tags(out, game, header, players, round);
    let mut text = Movetext { out, column: 0, token: String::with_capacity(WIDTH) };
    let mut position = game.start.clone();
    for (ply, played) in game.moves.iter().enumerate() {
        let number = position.fullmoves();
        let last = ply + 1 == game.moves.len();
        if position.turn().is_white() || ply == 0 {
            push_number(&mut text.token, number.get().into());
            text.token.push_str(if position.turn().is_white() { "." } else { "..." });
            text.push();
        }
        San::from_move(&position, played.m).append_to_string(&mut text.token);
        position.play_unchecked(played.m);
        // Only the last move can be mate: skip move generation for the others.
        if last && game.reason == Reason::Checkmate {
            text.token.push('#');
        } else if position.is_check() {
            text.token.push('+');
        }
        text.push();
        comment(&mut text.token, played, header.times);
        if last {
            text.token.push_str(", ");
            text.token.push_str(&ending(game, &position));
        }
        text.token.push('}');
        text.push();
    }
    if game.moves.is_empty() {
        let _ = write!(text.token, "{{{}}}", ending(game, &position));
        text.push();
    }
    text.token.push_str(game.result());
    text.push();
    out.push_str("\n\n");
}

fn write_tags(out: &mut String, game: &Game, header: &Header, players: [usize; 2], round: &str) {
    let mut tag = |name: &str, value: &str| {
        let _ = write!(out, "[{name} \"");
        for c in value.chars().map(|c| if c.is_control() { ' ' } else { c }) {
            if matches!(c, '\\' | '"') {
                out.push('\\');
            }
            out.push(c);
        }
        out.push_str("\"]\n");
    };
    let [white, black] = players;
    tag("Event", &header.event);
    tag("Site", "?");
    tag("Date", header.date.as_deref().unwrap_or("????.??.??"));
    tag("Round", round);
    tag("White", &header.names[white]);
    tag("Black", &header.names[black]);
    tag("Result", game.result());
    for (name, player) in [("EngineWhiteName", white), ("EngineBlackName", black)] {
        if let Some(engine) = &header.engines[player] {
            tag(name, engine);
        }
    }
    if game.start != Chess::default() {
        tag("SetUp", "1");
        tag("FEN", &Fen::from_position(&game.start, EnPassantMode::Legal).to_string());
    }
    if game.start.castles().mode().is_chess960() {
        tag("Variant", "Chess960");
    }
    tag("PlyCount", &game.moves.len().to_string());
    tag("Termination", termination(game.reason));
    let [ours, theirs] = players.map(|player| header.controls[player]);
    for (name, of) in [
        ("TimeControl", Control::tag as fn(&Control) -> String),
        // Nodes and depth have no tag in the standard.
        ("Limit", |control| if control.deterministic() { control.to_string() } else { String::new() }),
    ] {
        let (w, b) = (of(&ours), of(&theirs));
        let sides = if w == b { vec![("", w)] } else { vec![("White", w), ("Black", b)] };
        for (side, value) in sides.iter().filter(|(_, value)| !value.is_empty()) {
            tag(&format!("{side}{name}"), value);
        }
    }
    out.push('\n');
}

fn termination(reason: Reason) -> &'static str {
    match reason {
        Reason::TimeForfeit => "time forfeit",
        Reason::IllegalMove => "illegal move",
        Reason::Disconnect | Reason::Stall => "abandoned",
        Reason::AdjudicatedDraw | Reason::AdjudicatedWin | Reason::MoveLimit | Reason::Tablebase => {
            "adjudication"
        }
        _ => "normal",
    }
}

/// Final comment in fastchess's words: `White mates`, `Draw by 3-fold repetition`.
pub fn how_it_ended(game: &Game) -> String {
    let mut position = game.start.clone();
    game.moves.iter().for_each(|played| position.play_unchecked(played.m));
    ending(game, &position)
}

fn ending(game: &Game, position: &Chess) -> String {
    let name = |color: Color| color.fold_wb("White", "Black");
    // The player that fails is to move, or failed before its first move.
    let loser = name(game.winner.map_or(position.turn(), |winner| !winner));
    match (game.reason, game.winner) {
        (Reason::Checkmate, _) => format!("{} mates", name(!position.turn())),
        (Reason::Stalemate, _) => "Draw by stalemate".into(),
        (Reason::Repetition, _) => "Draw by 3-fold repetition".into(),
        (Reason::FiftyMoves, _) => "Draw by fifty moves rule".into(),
        (Reason::InsufficientMaterial, _) => "Draw by insufficient mating material".into(),
        (Reason::TimeForfeit, Some(_)) => format!("{loser} loses on time"),
        (Reason::TimeForfeit, None) => {
            format!("{loser} is out of time, and {} cannot mate", name(!position.turn()))
        }
        (Reason::IllegalMove, _) => match &game.note {
            // The text comes from a program: nothing in it may end the comment.
            Some(said) => format!("{loser} makes an illegal move: {}", said.replace(['{', '}'], "?")),
            None => format!("{loser} makes an illegal move"),
        },
        (Reason::Disconnect, _) => format!("{loser} disconnects"),
        (Reason::Stall, _) => format!("{loser}'s connection stalls"),
        (Reason::Tablebase, None) => "Draw by adjudication: SyzygyTB".into(),
        (Reason::Tablebase, Some(winner)) => format!("{} wins by adjudication: SyzygyTB", name(winner)),
        (Reason::MoveLimit, _) => "Draw by adjudication: move limit".into(),
        (_, None) => "Draw by adjudication".into(),
        (_, Some(winner)) => format!("{} wins by adjudication", name(winner)),
    }
}

fn comment(out: &mut String, played: &PlayedMove, times: bool) {
    let info = &played.info;
    let milliseconds = if times { played.time.as_millis() as u64 } else { 0 };
    out.push('{');
    // A zero in place of a missing score would read as a draw.
    if let Some(value) = info.score {
        score(out, value);
    }
    out.push('/');
    push_number(out, info.depth.max(0) as u64);
    out.push(' ');
    push_fraction(out, milliseconds, 1000);
    out.push_str("s, n=");
    push_number(out, info.nodes);
    if times && info.nps > 0 {
        out.push_str(", nps=");
        push_number(out, info.nps);
    }
}

fn score(out: &mut String, score: Score) {
    out.push(if score < 0 { '-' } else { '+' });
    let size = score.unsigned_abs();
    if is_mate(score) {
        out.push('M');
        push_number(out, MATE.unsigned_abs().saturating_sub(size).into());
    } else {
        push_fraction(out, size.into(), 100);
    }
}

/// Appends an integer; `std::fmt` costs more than all else that a move needs.
fn push_number(out: &mut String, mut number: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend(digits[at..].iter().map(|&digit| char::from(digit)));
}

/// Appends `number / unit` with as many decimals as `unit` has zeros.
fn push_fraction(out: &mut String, number: u64, unit: u64) {
    push_number(out, number / unit);
    out.push('.');
    let mut place = unit / 10;
    while place > 0 {
        out.push(char::from(b'0' + (number / place % 10) as u8));
        place /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::super::player::SearchInfo;
    use super::*;
    use patzer_chess::fen;
    use shakmaty::san::San;
    use std::time::Duration;

    fn game(start: Chess, moves: &[(&str, Score)], winner: Option<Color>, reason: Reason) -> Game {
        let mut position = start.clone();
        let moves = moves.iter().map(|&(san, score)| {
            let m = san.parse::<San>().unwrap().to_move(&position).unwrap();
            position.play_unchecked(m);
            let score = Some(score);
            let info = SearchInfo { score, depth: 12, seldepth: 0, nodes: 5000, nps: 100_000, wdl: None };
            PlayedMove { m, info, time: Duration::from_millis(50) }
        });
        let moves = moves.collect();
        Game { start, moves, winner, reason, note: None }
    }

    fn text(game: &Game, controls: [Control; 2]) -> String {
        let names = ["d.nnue".to_string(), "a \"b\" \\c".to_string()];
        let time_settings = controls.map(|control| TimeSettings { control, margin: Duration::ZERO });
        let mut out = String::new();
        write_game(&mut out, game, &Header::new("test", &names, &time_settings), [1, 0], "1.2");
        out
    }

    #[test]
    fn a_game_is_written_as_fastchess_writes_it() {
        let moves = [("f3", 35), ("e5", -7), ("g4", -31_998), ("Qh4", 31_999)];
        let game = game(Chess::default(), &moves, Some(Color::Black), Reason::Checkmate);
        let text = text(&game, [Control::nodes(5000); 2]);
        insta::assert_snapshot!(text, @r#"
        [Event "test"]
        [Site "?"]
        [Date "????.??.??"]
        [Round "1.2"]
        [White "a \"b\" \\c"]
        [Black "d.nnue"]
        [Result "0-1"]
        [PlyCount "4"]
        [Termination "normal"]
        [TimeControl "-"]
        [Limit "5000 nodes a move"]

        1. f3 {+0.35/12 0.000s, n=5000} e5 {-0.07/12 0.000s, n=5000} 2. g4
        {-M2/12 0.000s, n=5000} Qh4# {+M1/12 0.000s, n=5000, Black mates} 0-1
        "#);
    }

    #[test]
    fn black_to_move_and_time_are_written() {
        let start = fen::position("4k3/8/8/8/8/8/4R3/4K3 b - - 7 50", false).unwrap();
        let game = game(start, &[("Kd7", -1250)], None, Reason::MoveLimit);
        let text = text(&game, [Control::clock("40/60+0.6".parse().unwrap()); 2]);
        assert!(text.contains("[SetUp \"1\"]\n[FEN \"4k3/8/8/8/8/8/4R3/4K3 b - - 7 50\"]\n"), "{text}");
        assert!(text.contains("[Termination \"adjudication\"]\n[TimeControl \"40/60+0.6\"]\n\n"), "{text}");
        assert!(text.contains(
            "\n50... Kd7\n{-12.50/12 0.050s, n=5000, nps=100000, Draw by adjudication: move limit} 1/2-1/2\n\n"
        ));
    }

    #[test]
    fn chess960_says_so_and_a_game_without_moves_gives_its_reason() {
        let start = fen::position("1r2k1r1/8/8/8/8/8/8/1R2K1R1 w GBgb - 0 1", false).unwrap();
        let game = game(start, &[], Some(Color::Black), Reason::TimeForfeit);
        let text = text(&game, [Control::depth(3); 2]);
        assert!(text.contains("[Variant \"Chess960\"]"), "{text}");
        assert!(text.ends_with("\n\n{White loses on time} 0-1\n\n"), "{text}");
    }

    #[test]
    fn each_side_has_its_own_control_where_they_differ() {
        let game = game(Chess::default(), &[("e4", 30)], None, Reason::AdjudicatedDraw);
        let text = text(&game, [Control::clock("8+0.08".parse().unwrap()), Control::nodes(100)]);
        assert!(text.contains("[WhiteTimeControl \"-\"]\n[BlackTimeControl \"8+0.08\"]\n"), "{text}");
        assert!(text.contains("[WhiteLimit \"100 nodes a move\"]\n\n"), "{text}");
    }

    #[test]
    fn numbers_are_those_of_the_standard_library() {
        for number in [0, 1, 9, 10, 99, 100, 1005, 12_345, u64::from(u32::MAX), u64::MAX] {
            let mut out = String::new();
            push_number(&mut out, number);
            assert_eq!(out, number.to_string());
            out.clear();
            push_fraction(&mut out, number, 1000);
            assert_eq!(out, format!("{}.{:03}", number / 1000, number % 1000));
        }
    }

    #[test]
    fn checks_and_mates_are_marked_as_the_standard_asks() {
        use shakmaty::san::SanPlus;
        let mut moves = Vec::new();
        let mut position = Chess::default();
        let mut expected = Vec::new();
        for san in ["e4", "f6", "Qh5", "g6", "Qxg6", "hxg6", "Bc4", "Rxh2", "Bf7", "Kxf7", "Rxh2", "Ke8"] {
            let m = san.parse::<San>().unwrap().to_move(&position).unwrap();
            expected.push(SanPlus::from_move_and_play_unchecked(&mut position, m).to_string());
            moves.push((san, 0));
        }
        let text = text(&game(Chess::default(), &moves, None, Reason::MoveLimit), [Control::depth(1); 2]);
        assert!(expected.iter().filter(|san| san.ends_with('+')).count() >= 3, "{expected:?}");
        for san in expected {
            assert!(text.split_whitespace().any(|word| word == san), "{san}: {text}");
        }
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        // Printed by `date -u -d @$((86400 * n))`.
        for (number, text) in
            [(0, "1970.01.01"), (11_016, "2000.02.29"), (11_017, "2000.03.01"), (20_778, "2026.11.21")]
        {
            assert_eq!(day(number), text);
        }
    }

    #[test]
    fn comments_are_read_as_they_were_meant() {
        let scores = [None, Some(0), Some(-7), Some(1234), Some(31_995), Some(-31_998)];
        for score in scores {
            let info = SearchInfo { score, depth: 9, nodes: 1, nps: 5, ..SearchInfo::default() };
            let m = Chess::default().legal_moves()[0];
            let played = PlayedMove { m, info, time: Duration::from_millis(1500) };
            let mut text = String::new();
            comment(&mut text, &played, true);
            let read = patzer_pgn::Annotation::parse(&text.as_bytes()[1..]);
            let read =
                read.before(Color::White, patzer_pgn::EvalSide::Auto).map(|s| (i32::from(s.value), s.depth));
            assert_eq!(read, score.map(|score| (score, Some(9))), "{text}");
        }
    }

    #[test]
    fn what_an_engine_said_cannot_break_the_file() {
        let mut game = game(Chess::default(), &[("e4", 30)], Some(Color::White), Reason::IllegalMove);
        game.note = Some("e7}{[x] 1-0".to_string());
        let text = text(&game, [Control::depth(3); 2]);
        assert!(text.ends_with("Black makes an illegal move: e7??[x] 1-0} 1-0\n\n"), "{text}");
        assert_eq!(text.matches('}').count(), 1);
    }
}
