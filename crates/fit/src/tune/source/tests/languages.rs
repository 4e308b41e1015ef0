use super::*;

/// A source, its terms, and what a patch changes in it.
type Case = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static [(&'static str, &'static str)],
);

const CASES: [Case; 8] = [
    (
        "eval.go",
        "package engine\n\nvar PieceValueMG = [3]int16{84, 333, 346}\nvar PieceValueEG [3]int16 = [3]int16{106, 244, 268}\n\
         var TempoBonusMG int16 = 14 // side to move\nconst (\n\tLazy int16 = 100\n\tName = `X = 5`\n)\nvar Mobility = [2][2]Score{\n\t\
         {S(1, 2), {3, 4}},\n\t{{MG: 5, EG: 6}, S(7, 8)},\n}\nfunc f() { x := TempoBonusMG * 2; PieceValueMG[0] += x }\n",
        &[
            (
                "piece",
                "shape = 3\ninitial = [[85, 107], [333, 244], [346, 269]]\noutput = { symbol = [\"PieceValueMG\", \"PieceValueEG\"] }",
            ),
            ("TempoBonusMG", "kind = \"midgame\"\ninitial = 15"),
            ("Lazy", "kind = \"single\"\ninitial = 90"),
            ("Mobility", "shape = [2, 2]\ninitial = [[1, 2], [3, 40], [5, 60], [7, 8]]"),
        ],
        &[
            ("{84,", "{85,"),
            ("{106,", "{107,"),
            ("268}", "269}"),
            ("14 /", "15 /"),
            ("100", "90"),
            ("{3, 4}", "{3, 40}"),
            ("EG: 6", "EG: 60"),
        ],
    ),
    (
        "Eval.cs",
        "#region Weights with an apostrophe'\nstatic class Eval {\n  public static readonly int[] Pawn = { 1, 2 };\n  static int[,] Rows = new int[2, 2] { { 1, 2 }, { 3, 4 } };\n  \
         public static Score[] Pairs { get; } = [ new(1, 2), new(mg: 3, eg: 4) ];\n  static ReadOnlySpan<short> Span => new short[] { 5, 6 };\n  const int Tempo = 18;\n}\n#endregion\n",
        &[
            ("Pawn", "shape = 2\nkind = \"single\"\ninitial = [1, 20]"),
            ("Rows", "shape = [2, 2]\nkind = \"single\"\ninitial = [1, 2, 30, 4]"),
            ("Pairs", "shape = 2\ninitial = [[1, 2], [3, 40]]"),
            ("Span", "shape = 2\nkind = \"single\"\ninitial = [50, 6]"),
            ("Tempo", "kind = \"single\"\ninitial = 8"),
        ],
        &[
            ("Pawn = { 1, 2", "Pawn = { 1, 20"),
            ("{ 3, 4", "{ 30, 4"),
            ("eg: 4", "eg: 40"),
            ("{ 5,", "{ 50,"),
            ("18", "8"),
        ],
    ),
    (
        "eval.js",
        "const PAWN = new Int32Array([1, 2])\nlet text = `PAWN = [3]\n`\nexport const KNIGHT = [[1, 2], [3, 4]];\nthis.rook = [5, 6]\nconst params = { queen: 9, king: S(1, 2) }\nclass A { static BISHOP = 7 }\n",
        &[
            ("PAWN", "shape = 2\nkind = \"single\"\ninitial = [1, 20]"),
            ("KNIGHT", "shape = 2\ninitial = [[1, 2], [3, 40]]"),
            ("rook", "shape = 2\nkind = \"single\"\ninitial = [5, 60]"),
            ("queen", "kind = \"single\"\ninitial = 90"),
            ("king", "initial = [1, 20]"),
            ("BISHOP", "kind = \"single\"\ninitial = 70"),
        ],
        &[
            ("([1, 2]", "([1, 20]"),
            ("[3, 4]]", "[3, 40]]"),
            ("[5, 6]", "[5, 60]"),
            ("9,", "90,"),
            ("S(1, 2)", "S(1, 20)"),
            ("7 }", "70 }"),
        ],
    ),
    (
        "eval.ts",
        "export const PAWN: number[] = [1, 2];\nconst KNIGHT: readonly [number, number][] = [[1, 2], [3, 4]] as const\n",
        &[("PAWN", "shape = 2\nkind = \"single\"\ninitial = [1, 20]")],
        &[("[1, 2];", "[1, 20];")],
    ),
    (
        "Eval.kt",
        "object Eval {\n    const val TEMPO = 18\n    val PAWN = intArrayOf(1, 2)\n    val KNIGHT: Array<IntArray> = arrayOf(intArrayOf(1, 2), intArrayOf(3, 4))\n    private val ROOK = S(1, 2)\n}\n",
        &[
            ("TEMPO", "kind = \"single\"\ninitial = 8"),
            ("PAWN", "shape = 2\nkind = \"single\"\ninitial = [1, 20]"),
            ("KNIGHT", "shape = [2, 2]\nkind = \"single\"\ninitial = [1, 2, 3, 40]"),
            ("ROOK", "initial = [10, 2]"),
        ],
        &[
            ("18", "8"),
            ("PAWN = intArrayOf(1, 2)", "PAWN = intArrayOf(1, 20)"),
            ("(3, 4)", "(3, 40)"),
            ("S(1,", "S(10,"),
        ],
    ),
    (
        "Eval.swift",
        "struct Eval {\n    static let pawn: [Int] = [1, 2]\n    #if DEBUG\n    #endif\n    let knight = [Score(mg: 1, eg: 2), Score(mg: 3, eg: 4)]\n    var tempo = 18\n}\n",
        &[
            ("pawn", "shape = 2\nkind = \"single\"\ninitial = [1, 20]"),
            ("knight", "shape = 2\ninitial = [[1, 2], [3, 40]]"),
            ("tempo", "kind = \"single\"\ninitial = 8"),
        ],
        &[("[1, 2]", "[1, 20]"), ("eg: 4", "eg: 40"), ("18", "8")],
    ),
    (
        "eval.zig",
        "const note =\n    \\\\pawn = .{ 5 }\n;\npub const pawn = [_]i32{ 1, 2 };\nconst knight: [2]Score = .{ S(1, 2), .{ .mg = 3, .eg = 4 } };\npub var weights = Weights{ .tempo = 18, .rook = [2][2]i16{ .{ 1, 2 }, .{ 3, 4 } } };\n",
        &[
            ("pawn", "shape = 2\nkind = \"single\"\ninitial = [1, 20]"),
            ("knight", "shape = 2\ninitial = [[1, 2], [3, 40]]"),
            ("tempo", "kind = \"single\"\ninitial = 8"),
            ("rook", "shape = [2, 2]\nkind = \"single\"\ninitial = [1, 2, 30, 4]"),
        ],
        &[("{ 1, 2 };", "{ 1, 20 };"), (".eg = 4", ".eg = 40"), ("18", "8"), (".{ 3, 4 }", ".{ 30, 4 }")],
    ),
    (
        "eval.inl",
        "const int Psqt[2][2][3] = {\n  { {1, 2, 3}, {4, 5, 6} },\n  { {7, 8, 9}, {10, 11, 12} }\n};\nconst Value Outpost[2][2] = { Value(0), Value(5),\n  Value(10), Value(-5) };\nconst int Mg[][3] = {\n  { },\n  { 1, 2, 3 },\n};\nconst Tables knight = { .mg = { 1, 2 }, .eg = { 3, 4 } };\n",
        &[
            ("Psqt", "shape = [2, 3]\ninitial = [[1, 7], [2, 8], [3, 90], [40, 10], [5, 11], [6, 12]]"),
            ("Outpost", "shape = [2, 2]\nkind = \"single\"\ninitial = [0, 6, 10, -5]"),
            ("Mg", "shape = [2, 3]\nkind = \"single\"\ninitial = [0, 0, 0, 1, 20, 3]"),
            ("knight", "shape = 2\ninitial = [[1, 3], [2, 40]]"),
        ],
        &[
            ("Value(5)", "Value(6)"),
            ("{ 1, 2, 3 }", "{ 1, 20, 3 }"),
            (" 9}", " 90}"),
            ("{4,", "{40,"),
            (".eg = { 3, 4 }", ".eg = { 3, 40 }"),
        ],
    ),
];

fn replaced(source: &str, changes: &[(&str, &str)]) -> String {
    changes.iter().fold(source.to_string(), |text, (old, new)| {
        assert_eq!(text.matches(old).count(), 1, "{old} in {text}");
        text.replace(old, new)
    })
}

#[test]
fn sources_of_each_language_are_patched_and_read() {
    for (name, source, terms, changes) in CASES {
        let terms: String = terms.iter().map(|(name, rest)| term(name, rest)).collect();
        let expected = replaced(source, changes);
        assert_eq!(after(&terms, name, source), expected, "{name}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, &expected).unwrap();
        let read = parsed(&terms).from_source(std::slice::from_ref(&path)).unwrap();
        let model = read.model(&[]).unwrap();
        let given = parsed(&terms).model(&[]).unwrap();
        assert_eq!(model.start(), given.start(), "{name}");
    }
}

#[test]
fn a_list_of_one_language_is_no_list_of_another() {
    let three = term("X", "shape = 3\nkind = \"single\"\ninitial = 3");
    for (name, source, reason) in [
        ("x.java", "int X = [3]int16{3, 1, 2};", "`int16` goes on with the values"),
        ("x.py", "X = [3]int16{3, 1, 2}", "`int16` goes on with the values"),
        ("x.js", "const X = [1, 2, 3]\n  .map(x => x * 2)", "`.` goes on with the values"),
        ("x.go", "var X = [3]int16{Pawn: 3, Rook: 1, Queen: 2}", "`Pawn:` places an entry of an array"),
        ("x.go", "var X = [3]int16{0: 3, 1, 2}", "`:` makes an expression"),
        ("x.go", "var X = append([]int{1, 2}, 3)", "line 1: `X`"),
        ("x.zig", "const X = [_]i32{1} ** 3;", "`*` goes on with the values"),
        ("x.cs", "int[] X = new int[3];", "`new` is not a number"),
    ] {
        let found = fault(&three, &[(name, source)]);
        assert!(found.contains(reason), "{source}: {found}");
    }
}

#[test]
fn both_branches_of_a_condition_are_patched_if_they_agree() {
    let tempo = term("Tempo", "kind = \"single\"\ninitial = 7");
    let source = "#ifdef TUNE\nint Tempo = 18;\n#else\nconst int Tempo = 18;\n#endif\n";
    assert_eq!(after(&tempo, "x.c", source), source.replace("18", "7"));
    let other = fault(&tempo, &[("x.c", &source.replacen("18", "19", 1))]);
    assert!(other.contains("line 4: declares `Tempo`, as "), "{other}");
    assert!(other.ends_with("in line 2; the values of these branches of an `#if` differ"), "{other}");
    let both = "#ifdef A\nint Tempo = 18;\n#endif\n#ifdef B\nint Tempo = 18;\n#endif\n";
    assert!(fault(&tempo, &[("x.c", both)]).contains("a qualified `symbol`"));
    let three = "#if A\nint Tempo = 1;\n#elif B\nint Tempo = 1;\n# else\nint Tempo = 1;\n#endif";
    assert_eq!(after(&tempo, "x.c", three), three.replace("= 1", "= 7"));
    let one = "#ifdef TUNE\nextern int Tempo;\n#else\nconst int Tempo = 18;\n#endif\n";
    assert_eq!(after(&tempo, "x.c", one), one.replace("18", "7"));
}

#[test]
fn a_symbol_may_name_an_entry_of_an_array() {
    let source =
        "var Psqt = [2][3]int16{\n\t{1, 2, 3},\n\t{4, 5, 6},\n}\nvar Pairs = []Score{S(1, 2), S(3, 4)}\n";
    let terms = [
        ("a", "kind = \"single\"\ninitial = 50\noutput = { symbol = \"Psqt[1][1]\" }"),
        ("b", "shape = 3\nkind = \"single\"\ninitial = [1, 2, 30]\noutput = { symbol = \"Psqt[0]\" }"),
        ("c", "initial = [3, 40]\noutput = { symbol = \"Pairs[1]\" }"),
    ];
    let all: String = terms.iter().map(|(name, rest)| term(name, rest)).collect();
    let wanted = replaced(source, &[("5,", "50,"), ("3},", "30},"), ("(3, 4)", "(3, 40)")]);
    assert_eq!(after(&all, "x.go", source), wanted);
    // The compiler fills an array with zeros.
    let beyond = |value: i32| {
        term("a", &format!("kind = \"single\"\ninitial = {value}\noutput = {{ symbol = \"Psqt[0][3]\" }}"))
    };
    assert_eq!(after(&beyond(0), "x.go", source), source);
    let reason = "line 2: `Psqt[0][3]` has no entry [0][0], whose value is not 0";
    assert!(fault(&beyond(5), &[("x.go", source)]).ends_with(reason));
}
