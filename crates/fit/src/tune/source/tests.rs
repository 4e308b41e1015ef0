use std::path::PathBuf;

use super::*;

mod languages;
use crate::tune::terms::Terms;

/// Patches sources with the start values of terms.
fn patch(terms: &str, files: &[(&str, &str)]) -> Result<Vec<Patched>> {
    let folder = tempfile::tempdir().unwrap();
    let terms = Terms::parse(&format!("format = 1\n{terms}"), Path::new("x.toml")).unwrap();
    let paths: Vec<PathBuf> = files.iter().map(|(name, _)| folder.path().join(name)).collect();
    for (path, (_, text)) in paths.iter().zip(files) {
        std::fs::write(path, text).unwrap();
    }
    let model = terms.model(&[]).unwrap();
    let values = model.start();
    Tuned { terms: &terms, model: &model, values: &values, k: 1.0, support: &[] }.patch(&paths)
}

fn after(terms: &str, name: &str, text: &str) -> String {
    patch(terms, &[(name, text)]).unwrap().remove(0).after
}

/// The error without the folder.
fn fault(terms: &str, files: &[(&str, &str)]) -> String {
    let error = patch(terms, files).unwrap_err().to_string();
    let word = |word: &str| {
        if word.contains("/.tmp") { word.rsplit('/').next().unwrap().to_string() } else { word.into() }
    };
    error.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

fn term(name: &str, rest: &str) -> String {
    format!("[[term]]\nname = \"{name}\"\n{rest}\n")
}

#[test]
fn c_keeps_its_macros_columns_and_comments() {
    let source = "\
#define S(mg, eg) ((int)((unsigned int)(eg) << 16) + (mg))
#define LAZY 75 // centipawns
extern const int Mobility[4][28];
// const int Tempo = 1;
const int Tempo = 18;
const int PawnDoubled  = S(-11,-48); /* two on a file */
const int PawnPassed[RANK_NB] = {
    S(  0,  0), S(-14, 25), S(-19, 40), S(-72,115),
    S(-38,146), S( 60,175), S(311,218), S(  0,  0)
};
const int Mobility[2][3] = {
    // Knight (0-1)
    { S(-44,-139), S(-31, -7) },
    { S( 10,  2), S( -3, 53), 0 }
};
const int CheckPower[4]  = { 68, 44, 88, 92 };
enum { P_MG =  104, P_EG =  204, N_MG = 420, };
int eval(int n) { int Tempo = 5 * n; return Tempo + Mobility[0][n] == 1; }
";
    let terms = [
        term("Tempo", "kind = \"single\"\ninitial = 7\noutput = { symbol = \"Tempo\" }"),
        term("PawnDoubled", "initial = [3, -100]"),
        term(
            "PawnPassed",
            "shape = 8\ninitial = [[0,0],[-14,25],[-19,40],[-7,115],[-38,146],[60,5],[-1311,218],[0,0]]",
        ),
        term("Mobility", "shape = [2, 3]\ninitial = [[-44,-139],[-31,-8],[0,0],[10,2],[1,1],[0,0]]"),
        term("CheckPower", "shape = 4\nkind = \"midgame\"\ninitial = [68, 144, 8, 92]"),
        term("pawn", "initial = [100, 205]\noutput = { symbol = [\"P_MG\", \"P_EG\"] }"),
        term("lazy", "kind = \"single\"\ninitial = 80\noutput = { symbol = \"LAZY\" }"),
        term("unknown", "output = { symbol = \"\" }"),
        term("held", "fixed = true"),
    ]
    .concat();
    let expected = source
        .replace("LAZY 75", "LAZY 80")
        .replace("Tempo = 18", "Tempo = 7")
        .replace("S(-11,-48)", "S(  3,-100)")
        .replace("S(-72,115)", "S( -7,115)")
        .replace("S( 60,175), S(311,218)", "S( 60,  5), S(-1311,218)")
        .replace("S(-31, -7)", "S(-31, -8)")
        .replace("S( -3, 53)", "S(  1,  1)")
        .replace("{ 68, 44, 88, 92 }", "{ 68, 144, 8, 92 }")
        .replace("P_MG =  104, P_EG =  204", "P_MG =  100, P_EG =  205");
    // The local variable of the same name has no plain number.
    assert_eq!(after(&terms, "evaluate.c", source), expected);
}

#[test]
fn cpp_rust_java_and_python_are_patched_in_place() {
    let board = |value: i32| vec![value.to_string(); 64].join(", ");
    let cases = [
        (
            "x.cpp",
            "namespace mg { constexpr int KNIGHT[2] = {1, 2}; }\nnamespace eg { constexpr int KNIGHT[2] = {3, 4}; }\n\
             constexpr std::array<Score, 2> Rook = {{ {1'000, 2}, {3, 4} }};\n\
             static Weights w = { .Bishop = { make_score(5, 6) }, .Queen = 9 };\n",
            term("n", "shape = 2\ninitial = [[9, -8], [2, 4]]\noutput = { symbol = [\"mg::KNIGHT\", \"eg.KNIGHT\"] }")
                + &term("Rook", "shape = 2\ninitial = [[1000, 2], [3, -4]]")
                + &term("Bishop", "initial = [50, 6]")
                + &term("Queen", "kind = \"endgame\"\ninitial = -9"),
            "namespace mg { constexpr int KNIGHT[2] = {9, 2}; }\nnamespace eg { constexpr int KNIGHT[2] = {-8, 4}; }\n\
             constexpr std::array<Score, 2> Rook = {{ {1'000, 2}, {3, -4} }};\n\
             static Weights w = { .Bishop = { make_score(50, 6) }, .Queen = -9 };\n"
                .to_string(),
        ),
        (
            "x.rs",
            "pub static KNIGHT: [[ScoreExt; 2]; 2] = [\n    [S::new(-5, 10), s!(1, 2)],\n    [ScoreExt { mg: 3, eg: 4 }, S::new(1_000, 0)],\n];\n\
             const W: Params = Params { bishop: [12i32, -7i32], rook: S(1, 1) };\nstruct Params { bishop: [i32; 2], rook: S }\n",
            term("KNIGHT", "shape = [2, 2]\ninitial = [[-6, 10], [1, 20], [3, 44], [1000, 1]]")
                + &term("bishop", "shape = 2\nkind = \"single\"\ninitial = [12, 8]")
                + &term("rook", "kind = \"single\"\ninitial = 2"),
            "pub static KNIGHT: [[ScoreExt; 2]; 2] = [\n    [S::new(-6, 10), s!(1, 20)],\n    [ScoreExt { mg: 3, eg: 44 }, S::new(1_000, 1)],\n];\n\
             const W: Params = Params { bishop: [12i32, 8i32], rook: S(2, 2) };\nstruct Params { bishop: [i32; 2], rook: S }\n"
                .to_string(),
        ),
        (
            "X.java",
            "class Eval {\n  static final int[] ROOK = {   5,  10,\n                           -20,   7 };\n  private static final int[][] KING = new int[][] {{1, 2}, {3, 4}};\n}\n",
            term("ROOK", "shape = 4\nkind = \"single\"\ninitial = [5, -110, 20, 7]")
                + &term("KING", "shape = 2\ninitial = [[1, 2], [3, 5]]"),
            "class Eval {\n  static final int[] ROOK = {   5, -110,\n                            20,   7 };\n  private static final int[][] KING = new int[][] {{1, 2}, {3, 5}};\n}\n"
                .to_string(),
        ),
        (
            "x.py",
            &format!(
                "\"\"\"PAWN = [1]\"\"\"\nclass A:\n    PAWN = [1.0, 2]  # PAWN = 3\nclass B:\n    PAWN: list[int] = [1, 2]\nQUEEN = np.array([{}], dtype=np.int32)\nTEMPO = 5\nif TEMPO == 5: pass\n",
                board(3)
            ),
            term("PAWN", "shape = 2\nkind = \"single\"\ninitial = [7, 2]\noutput = { symbol = \"A.PAWN\" }")
                + &term("QUEEN", &format!("shape = \"board\"\nkind = \"single\"\ninitial = [{}, 1]\noutput = {{ squares = \"a8\" }}", vec!["3"; 63].join(", ")))
                + &term("TEMPO", "kind = \"single\"\ninitial = -5"),
            format!(
                "\"\"\"PAWN = [1]\"\"\"\nclass A:\n    PAWN = [7.0, 2]  # PAWN = 3\nclass B:\n    PAWN: list[int] = [1, 2]\nQUEEN = np.array([{}], dtype=np.int32)\nTEMPO = -5\nif TEMPO == 5: pass\n",
                board(3).replacen("3, 3, 3, 3, 3, 3, 3, 3", "3, 3, 3, 3, 3, 3, 3, 1", 1)
            ),
        ),
    ];
    for (name, source, terms, expected) in &cases {
        assert_eq!(after(terms, name, source), *expected, "{name}");
    }
}

#[test]
fn equal_values_change_no_byte_and_a_diff_shows_what_changes() {
    let source = "int A = 1;\nint B = 2;\n\n\n\n\n\n\nint C = 3; // last";
    let terms = ["A", "B", "C"].map(|name| term(name, "kind = \"single\"\ninitial = 3")).concat();
    let patched = patch(&terms, &[("x.c", source)]).unwrap().remove(0);
    assert_eq!(patched.changed, 2);
    let diff = patched.diff();
    let (_, hunks) = diff.split_once("+++ ").unwrap().1.split_once('\n').unwrap();
    assert_eq!(hunks, "@@ -1,5 +1,5 @@\n-int A = 1;\n-int B = 2;\n+int A = 3;\n+int B = 3;\n \n \n \n");
    let terms = term("C", "kind = \"single\"\ninitial = 3");
    let same = patch(&terms, &[("x.c", source)]).unwrap().remove(0);
    assert_eq!((same.after.as_str(), same.changed, same.diff().as_str()), (source, 0, ""));
    let last =
        patch(&term("C", "kind = \"single\"\ninitial = 4"), &[("x.c", source)]).unwrap().remove(0).diff();
    let end = "-int C = 3; // last\n\\ No newline at end of file\n+int C = 4; // last\n\\ No newline at end of file\n";
    assert!(last.ends_with(end), "{last}");
}

#[test]
fn what_does_not_fit_is_refused_with_file_and_line() {
    let pair = |rest: &str| term("A", rest);
    for (terms, name, source, reason) in [
        (
            pair("shape = [2, 3]"),
            "x.c",
            "\nint A[3][2] = {\n{S(1,2),S(1,2)},{S(1,2),S(1,2)},{S(1,2),S(1,2)}};",
            "x.c: line 2: `A` has 3 rows of 2 here; the terms have 2 rows of 3",
        ),
        (
            pair("kind = \"single\""),
            "x.c",
            "\nint A = S(-11, -48);",
            "x.c: line 2: `A` is of kind \"single\", and its halves are -11 and -48 here",
        ),
        (
            pair("shape = 3"),
            "x.c",
            "int A[4] = {S(1,2),S(1,2),S(1,2),S(1,2)};",
            "x.c: line 1: `A` has 1 row of 4 here; the terms have 1 row of 3",
        ),
        (
            pair("shape = 2\ninitial = [[1, 2], [3, 4]]"),
            "x.c",
            "int A[2] = {S(1,2)};",
            "`A` has no entry [0][1], whose value is not 0",
        ),
        (pair("initial = [1, 2]"), "x.c", "int A = 0;", "line 1: `0` is not a pair"),
        (pair(""), "x.c", "int\nA = S(P_MG, 3);", "x.c: line 2: `A`: `P_MG` is not a number"),
        (pair(""), "x.c", "int A = S(2 * 3, 3);", "line 1: `A`: `*` makes an expression"),
        (pair(""), "x.c", "int A = S(0x10, 3);", "line 1: `0x10` is not a plain decimal number"),
        (
            pair("shape = 2"),
            "x.c",
            "int A[2] = { [1] = S(1, 2), S(1, 2) };",
            "line 1: `A`: `=` inside an array",
        ),
        (pair("shape = 2"), "x.rs", "const A: [S; 2] = [S(1, 2); 2];", "line 1: `A`: `;` inside an array"),
        (pair(""), "x.c", "int A = S(1, 2);\nint A = S(1, 2);", "line 2: declares `A`, as "),
        (
            pair(""),
            "x.c",
            "int f() { A = S(1, 2); x.A = S(1, 2); }",
            "no declaration of `A` with its values in ",
        ),
        (pair(""), "x.txt", "int A = S(1, 2);", "is in no known language by its ending: C, C++ (.c"),
        (pair(""), "x.c", "int A = S(1, ", "line 1: `A`: `the end of the file` is not a number"),
        (
            pair("") + &term("B", "output = { symbol = \"A\" }"),
            "x.c",
            "int A = S(1, 2);",
            "two terms have the same number",
        ),
    ] {
        let found = fault(&terms, &[(name, source)]);
        assert!(found.contains(reason), "{source}: {found}");
    }
}

#[test]
fn uses_of_a_name_are_no_declarations() {
    let knight = term("KNIGHT", "kind = \"single\"\ninitial = 310");
    for (source, found) in [
        ("#define KNIGHT 300\n#define KNIGHT_TRADE (KNIGHT - 50)\n#define KNIGHT_VALUE KNIGHT 5\n", "300"),
        ("int KNIGHT = 300;\n#define TRADE KNIGHT 50\nif (x) y = 2; else KNIGHT = 50;\n", "300"),
    ] {
        assert_eq!(after(&knight, "x.c", source), source.replacen(found, "310", 1));
    }
}

/// Initialisers of C++ without `=`, their terms, and numbers that change.
const BRACKETS: [(&str, &str, [&str; 2]); 11] = [
    ("constexpr Score pawn{100, 100}, knight{300, 300};", "pawn knight", ["{300, 300}", "{300, 7}"]),
    ("Score pawn(100, 100);", "pawn", ["100);", "7);"]),
    ("auto pawn { S(100, 100) };", "pawn", ["100) }", "7) }"]),
    ("std::array<Score,1> knight{{ {300, 300} }};", "knight", ["300} }}", "7} }}"]),
    ("const Score bishop = S(1, 2), pawn(100, 100), knight{S(3, 4)};", "pawn knight", ["(3, 4)", "(3, 7)"]),
    ("struct E { private: static inline Score pawn{1, 2}, knight{3, 4}; };", "pawn knight", ["3, 4", "3, 7"]),
    ("alignas(8) Score pawn{.mg = 1, .eg = 2};", "pawn", [".eg = 2", ".eg = 7"]),
    ("std::array<Score, 2> rook{{{1, 2}, {3, 4}}}, pawn{{ S(5, 6) }};", "pawn", ["6) }}", "7) }}"]),
    ("x = pawn(1, 2), y; f(pawn{1, 2}); Score pawn(100, 100);", "pawn", ["100);", "7);"]),
    ("Eval::pawn = f(1); const Score Eval::pawn = S(1, 2);", "pawn", ["2);", "7);"]),
    ("constexpr Score ns::Eval::pawn{1, 2};", "pawn", ["2}", "7}"]),
];

fn parsed(text: &str) -> Terms {
    Terms::parse(&format!("format = 1\n{text}"), Path::new("x.toml")).unwrap()
}

#[test]
fn initialisers_in_brackets_are_read_and_patched() {
    for (source, names, [old, new]) in BRACKETS {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.cpp");
        std::fs::write(&path, source).unwrap();
        let text: String = names.split(' ').map(|name| term(name, "")).collect();
        let terms = parsed(&text).from_source(std::slice::from_ref(&path)).unwrap();
        let model = terms.model(&[]).unwrap();
        let mut values = model.start();
        let patch = |values: &[f64]| {
            let tuned = Tuned { terms: &terms, model: &model, values, k: 1.0, support: &[] };
            tuned.patch(std::slice::from_ref(&path)).unwrap().remove(0).after
        };
        assert_eq!(patch(&values), source);
        *values.last_mut().unwrap() = 7.0;
        assert_eq!(patch(&values), source.replacen(old, new, 1));
    }
    let single = "kind = \"single\"\ninitial = 9";
    assert_eq!(after(&term("Tempo", single), "x.cpp", "int Tempo{18};"), "int Tempo{9};");
    let row = "shape = 2\nkind = \"single\"\ninitial = [1, 9]";
    assert_eq!(after(&term("Row", row), "x.cpp", "int Row[2]{1, 2};"), "int Row[2]{1, 9};");
}

#[test]
fn calls_and_functions_are_no_declarations() {
    for source in [
        "Score pawn(int mg, int eg);",
        "Score pawn();",
        "Score pawn{};",
        "Score pawn{PAWN_MG, 100};",
        "int f() { return pawn(1, 2); }",
        "int f() { pawn(1, 2); }",
        "int f() { if (x) y(); else pawn(1, 2); }",
        "int f() { x->pawn(1, 2); x.pawn(1, 2); Eval::pawn(1, 2); }",
        "int f() { Eval::pawn = S(1, 2); return Eval::pawn(1, 2); }",
        "int f() { x = 3 * pawn(1, 2); }",
        "int f() { g(1, 2), pawn(1, 2); }",
        "int f() { return a(1), pawn(1, 2); }",
        "int f() { g(x, pawn(1, 2), 3); }",
        "int x[] = { knight(1, 2), pawn(1, 2), rook(1, 2) };",
        "struct E { E() : knight(1, 2), pawn(1, 2), rook(1, 2) {} };",
        "auto x = new pawn(1, 2);",
    ] {
        let found = fault(&term("pawn", ""), &[("x.cpp", source)]);
        assert!(found.contains("no declaration of `pawn` with its values in"), "{source}: {found}");
    }
    let java = fault(&term("pawn", ""), &[("X.java", "Score pawn(1, 2);")]);
    assert!(java.contains("no declaration of `pawn`"), "{java}");
}

#[test]
fn a_file_that_changed_meanwhile_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.c");
    std::fs::write(&path, "int A = 1; // edited").unwrap();
    let mut patched =
        Patched { path: path.clone(), before: "int A = 1;".into(), after: "int A = 2;".into(), changed: 1 };
    assert!(patched.write().unwrap_err().to_string().contains("changed since it was read"));
    patched.before = std::fs::read_to_string(&path).unwrap();
    patched.write().unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "int A = 2;");
}

#[test]
fn start_values_come_from_the_source_and_go_back_without_a_change() {
    let squares = ", S(0, 0)".repeat(63);
    let source = "\
enum { P_MG = 104, P_EG = 204 };
const int Tempo = 18;
const int Squares[64] = { S(9, 8)REST };
const int Complexity = S(0, -7);
const int Mobility[2][3] = {
    { S(-44,-139), S(-31, -7) },
    { S( 10,  2), S( -3, 53), 0 }
};
const float Power[2] = { 1.5f, 2.0f };
";
    let text = [
        term("pawn", "output = { symbol = [\"P_MG\", \"P_EG\"] }"),
        term("Tempo", "kind = \"single\""),
        term("Squares", "shape = \"board\"\noutput = { squares = \"a8\" }"),
        term("Complexity", "kind = \"endgame\""),
        term("Mobility", "shape = [2, 3]"),
        term("held", "initial = 5\nfixed = true"),
        term("nowhere", "initial = 6\noutput = { symbol = \"\" }"),
    ]
    .join("\n");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.c");
    std::fs::write(&path, source.replace("REST", &squares)).unwrap();
    let parse = |text: &str| Terms::parse(&format!("format = 1\n{text}"), Path::new("x.toml")).unwrap();
    let terms = parse(&text).from_source(std::slice::from_ref(&path)).unwrap();
    let model = terms.model(&[]).unwrap();
    let (values, pairs) = (model.start(), model.pairs(&model.start()));
    assert_eq!(pairs[..2], [[104.0, 204.0], [18.0, 18.0]]);
    assert_eq!((pairs[2], pairs[2 + 56]), ([0.0, 0.0], [9.0, 8.0]));
    assert_eq!(pairs[66..70], [[0.0, -7.0], [-44.0, -139.0], [-31.0, -7.0], [0.0, 0.0]]);
    assert_eq!(pairs[70..], [[10.0, 2.0], [-3.0, 53.0], [0.0, 0.0], [5.0, 5.0], [6.0, 6.0]]);
    let tuned = Tuned { terms: &terms, model: &model, values: &values, k: 1.0, support: &[] };
    assert_eq!(tuned.patch(std::slice::from_ref(&path)).unwrap()[0].changed, 0);
    let of = |text: &str| parse(text).from_source(std::slice::from_ref(&path));
    let power = of(&term("Power", "shape = 2\nkind = \"midgame\"")).unwrap();
    assert_eq!(power.terms[0].initial.to_string(), "[1.5, 2]");
    let fault = of(&term("Lost", "")).unwrap_err().to_string();
    assert!(fault.contains("no declaration of `Lost` with its values in"), "{fault}");
    let fault = of(&term("Tempo", "")).unwrap_err().to_string();
    assert!(fault.contains("line 2: `18` is not a pair, as the entries of `Tempo` are"), "{fault}");
}

#[test]
fn a_bare_zero_becomes_a_pair_in_the_notation_of_the_others() {
    let three = term("P", "shape = 3\ninitial = [[1, 2], [3, 4], [5, 6]]");
    for (name, before, expected) in [
        (
            "x.cpp",
            "const int P[3] = {S(100, 120), 0, S(5, 5)};",
            "const int P[3] = {S(1, 2), S(3, 4), S(5, 6)};",
        ),
        ("x.c", "int P[3] = { S( 10,  2), S( -3, 53), 0 };", "int P[3] = { S( 1,  2), S( 3,  4), S(5, 6) };"),
        (
            "x.rs",
            "const P: [S; 3] = [S { mg: 9, eg: 9 }, 0, s!(1, 1)];",
            "const P: [S; 3] = [S { mg: 1, eg: 2 }, S { mg:3, eg: 4}, s!(5, 6)];",
        ),
    ] {
        assert_eq!(after(&three, name, before), expected, "{name}");
    }
    let late = term("P", "shape = 2\nkind = \"endgame\"\ninitial = [3, 4]");
    assert_eq!(after(&late, "x.c", "int P[2] = {S(1, 2), 0};"), "int P[2] = {S(1, 3), S(0, 4)};");
    let equal = term("P", "shape = 2\ninitial = [[1, 2], [0, 0]]");
    assert_eq!(after(&equal, "x.c", "int P[2] = {S(1, 2), 0};"), "int P[2] = {S(1, 2), 0};");
    // Without a pair beside it there is no notation, which is known before a fit.
    let zeros = term("P", "shape = 3");
    let said = fault(&zeros, &[("x.c", "int P[3] = {0, 0, 0};")]);
    assert_eq!(said, "x.c: line 1: `0` is not a pair, as the entries of `P` are");
}
