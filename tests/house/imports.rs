//! Which file of a crate names items of which other file, read from the paths in its text.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

type Module = Vec<String>;

/// A module's file, what it brings into scope, and the paths in its text.
struct Source {
    file: PathBuf,
    imports: BTreeMap<String, String>,
    paths: Vec<String>,
}

/// Groups of files that name each other's items in a loop.
pub fn circles(folder: &Path) -> Vec<Vec<PathBuf>> {
    let mut sources = BTreeMap::new();
    read(folder, &mut Vec::new(), &mut sources);
    let modules: Vec<&Module> = sources.keys().collect();
    let arrows: Vec<BTreeSet<usize>> = modules
        .iter()
        .map(|module| {
            let targets = sources[*module].paths.iter().filter_map(|path| resolve(&sources, module, path, 0));
            // `main.rs` is the registry of the commands, its rows.
            let others =
                targets.filter(|target| target != *module && !sources[target].file.ends_with("main.rs"));
            others.filter_map(|target| modules.binary_search(&&target).ok()).collect()
        })
        .collect();
    let reach: Vec<BTreeSet<usize>> = (0..modules.len()).map(|from| reachable(&arrows, from)).collect();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for from in 0..modules.len() {
        let circle: Vec<usize> =
            reach[from].iter().copied().filter(|to| reach[*to].contains(&from)).collect();
        if circle.len() > 1 && seen.insert(circle.clone()) {
            found.push(circle.iter().map(|module| sources[modules[*module]].file.clone()).collect());
        }
    }
    found
}

fn reachable(arrows: &[BTreeSet<usize>], from: usize) -> BTreeSet<usize> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(next) = open.pop() {
        open.extend(arrows[next].iter().filter(|to| reached.insert(**to)));
    }
    reached
}

/// Reads the files of a folder as modules; tests are no part of the plan.
fn read(folder: &Path, module: &mut Module, sources: &mut BTreeMap<Module, Source>) {
    for entry in fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().path();
        let name = file.file_stem().unwrap().to_str().unwrap().to_string();
        if matches!(name.as_str(), "tests" | "bin") {
            continue;
        }
        module.push(name.clone());
        if file.is_dir() {
            read(&file, module, sources);
        } else if file.extension().is_some_and(|ending| ending == "rs") {
            let face = matches!(name.as_str(), "mod" | "lib" | "main");
            let key = module[..module.len() - usize::from(face)].to_vec();
            sources.insert(key, source(file));
        }
        module.pop();
    }
}

fn source(file: PathBuf) -> Source {
    let mut code = code(&fs::read_to_string(&file).unwrap());
    let mut source = Source { file, imports: BTreeMap::new(), paths: Vec::new() };
    while let Some(start) = code.find("\nuse ") {
        let end = start + code[start..].find(';').unwrap();
        let tree: String = code[start + 5..end].split_whitespace().collect::<Vec<_>>().join(" ");
        code.replace_range(start..=end, "\n");
        for path in expand(&tree) {
            let (path, name) = match path.split_once(" as ") {
                Some((path, name)) => (path.to_string(), name.to_string()),
                None => (path.clone(), path.rsplit("::").next().unwrap().to_string()),
            };
            source.imports.insert(name, path);
        }
    }
    let words = code.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
    let names: BTreeSet<&str> =
        words.map(|word| word.trim_matches(':')).filter(|word| !word.is_empty()).collect();
    source.paths = names.iter().map(|name| name.to_string()).collect();
    source
}

/// The text without comments, strings, test modules and the visibility of items, each `use` at the start of a line.
fn code(text: &str) -> String {
    let text = text.split("\nmod tests {").next().unwrap();
    let mut code = String::from("\n");
    for line in text.lines() {
        let line = line.split("//").next().unwrap().trim();
        let line = line.strip_prefix("pub").map_or(line, |rest| match rest.strip_prefix('(') {
            Some(inside) => inside.split_once(')').map_or(line, |(_, rest)| rest.trim()),
            None => rest.trim_start(),
        });
        let outside = line.split('"').step_by(2);
        outside.for_each(|part| code += part);
        code.push('\n');
    }
    code
}

/// The paths of a `use` tree: `a::{b, c::d}` → `a::b`, `a::c::d`.
fn expand(tree: &str) -> Vec<String> {
    let Some((before, inside)) = tree.split_once('{') else { return vec![tree.trim().to_string()] };
    let inside = &inside[..inside.rfind('}').unwrap()];
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for c in inside.chars() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        match c {
            ',' if depth == 0 => parts.push(String::new()),
            c => parts.last_mut().unwrap().push(c),
        }
    }
    let full = parts.iter().filter(|part| !part.trim().is_empty());
    full.flat_map(|part| expand(part.trim())).map(|path| before.trim().to_string() + &path).collect()
}

/// The module whose file has the item that a path names in a module, through imports and re-exports.
fn resolve(sources: &BTreeMap<Module, Source>, module: &Module, path: &str, depth: u8) -> Option<Module> {
    let mut names: Vec<&str> = path.split("::").filter(|name| *name != "self").collect();
    let mut here = module.clone();
    if names.first() == Some(&"crate") {
        (here, names) = (Vec::new(), names[1..].to_vec());
    }
    while names.first() == Some(&"super") {
        here.pop()?;
        names.remove(0);
    }
    let mut inside = path.starts_with("crate") || path.starts_with("self") || path.starts_with("super");
    for (place, name) in names.iter().enumerate() {
        let child: Module = here.iter().cloned().chain([name.to_string()]).collect();
        if sources.contains_key(&child) {
            (here, inside) = (child, true);
            continue;
        }
        let source = sources.get(&here)?;
        let rest = names[place + 1..].iter().map(|name| format!("::{name}")).collect::<String>();
        if depth < 8
            && let Some(import) = source.imports.get(*name).filter(|import| **import != path)
        {
            return resolve(sources, &here, &(import.clone() + &rest), depth + 1);
        }
        return inside.then_some(here);
    }
    None
}
