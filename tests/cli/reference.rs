//! The reference in `docs/reference` is what the program says, so that no help text, filter or recipe changes unseen.

use std::fs;
use std::process::Command;

use patzer_train::{RECIPES, Settings};

/// Compares a page with the committed one. After a wanted change: `UPDATE=1 cargo test --test cli reference`, and read
/// the difference before it is committed.
pub fn held(page: &str, text: &str) {
    let file = format!("{}/docs/reference/{page}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&file, text).unwrap();
    }
    let committed = fs::read_to_string(&file).unwrap_or_default();
    let same = text.lines().zip(committed.lines()).take_while(|(ours, theirs)| ours == theirs).count();
    assert!(
        text == committed,
        "{file} differs from the program first in line {}; UPDATE=1 rewrites it",
        same + 1
    );
}

fn said(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_patzer")).args(args).output().unwrap();
    assert!(output.status.success(), "{args:?} {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_commands_are_those_of_the_help() {
    let mut pages = Vec::new();
    crate::help::reference(&[], &mut pages);
    let mut text =
        String::from("# Commands\n\nWhat each command says with `--help`, exit codes included.\n\n");
    for (name, _) in &pages {
        text += &format!("- [{name}](#{})\n", name.replace(' ', "-"));
    }
    for (name, help) in &pages {
        text += &format!("\n## {name}\n\n```text\n{help}```\n");
    }
    held("commands.md", &text);
}

#[test]
fn the_filters_are_those_of_the_program() {
    let list = said(&["filters"]);
    let (_, filters) = list.split_once("Filters that presets are made of").unwrap();
    let names: serde_json::Value = serde_json::from_str(&said(&["filters", "--json"])).unwrap();
    let mut text = String::from(
        "# Filters and presets\n\nWhat `patzer filters` says of the values of `--filter`. `--filter-set KEY=VALUE` gives a \
         filter's\nparameter another value.\n\n## Presets\n",
    );
    for preset in names["presets"].as_array().unwrap() {
        let name = preset["name"].as_str().unwrap();
        text += &format!("\n### {name}\n\n```text\n{}```\n", said(&["filters", name]));
    }
    held("filters.md", &format!("{text}\n## Filters\n\n```text\nFilters{}\n```\n", filters.trim_end()));
}

#[test]
fn the_recipes_are_those_of_the_program() {
    let mut text = String::from(
        "# Built-in recipes\n\nThe files of `patzer tune --recipe NAME`, and the values of keys that a recipe does not \
         name.\n[What each key means](../recipes.md).\n",
    );
    for (name, file) in RECIPES {
        text += &format!("\n## {name}\n\n```toml\n{}\n```\n", file.trim_end());
    }
    let defaults = toml::to_string(&Settings::default()).unwrap();
    held(
        "recipes.md",
        &format!(
            "{text}\n## Keys that a recipe does not name\n\nKeys that are not listed are off; `k` is fitted to the data.\n\n```toml\n{}\n```\n",
            defaults.trim_end()
        ),
    );
}

#[test]
fn every_key_of_a_recipe_is_explained() {
    let explained = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/recipes.md")).unwrap();
    let error = toml::from_str::<Settings>("no_such_key = 1").unwrap_err().to_string();
    let (_, keys) = error.split_once("expected one of ").expect(&error);
    let keys: Vec<&str> = keys.trim().split(", ").collect();
    assert!(keys.len() > 50, "{error}");
    for key in keys {
        assert!(
            explained.contains(&format!("`{}`", key.trim_matches('`'))),
            "{key} is not in docs/recipes.md"
        );
    }
}
