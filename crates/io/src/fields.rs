//! Fields of a JSON value as names and texts, by which two runs are compared and shown.

use serde_json::Value;

/// Lists the fields that have a value, each as the words of its path: `player 1 limit nodes`, `100`.
pub fn fields(value: &Value) -> Vec<(String, String)> {
    let mut list = Vec::new();
    add("", value, &mut list);
    list
}

fn add(name: &str, value: &Value, list: &mut Vec<(String, String)>) {
    let inside = |word: String| if name.is_empty() { word } else { format!("{name} {word}") };
    match value {
        Value::Null => {}
        Value::Object(members) => {
            members.iter().for_each(|(key, member)| add(&inside(key.replace('_', " ")), member, list));
        }
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            (1..)
                .zip(items)
                .for_each(|(number, item): (u32, _)| add(&inside(number.to_string()), item, list));
        }
        Value::String(text) => list.push((name.to_string(), text.clone())),
        other => list.push((name.to_string(), other.to_string())),
    }
}

/// Names the first field that differs between the stored settings of a run and those of now: `seed was 1 and is now 2`.
pub fn difference(stored: &Value, now: &Value) -> Option<String> {
    // By way of text, since a stored number was read from text.
    let now = serde_json::from_str(&now.to_string()).unwrap_or(Value::Null);
    let (stored, now) = (fields(stored), fields(&now));
    let value = |list: &[(String, String)], name: &str| {
        list.iter().find(|(other, _)| other == name).map_or("nothing".to_string(), |(_, value)| value.clone())
    };
    let (name, _) = now
        .iter()
        .find(|field| !stored.contains(field))
        .or_else(|| stored.iter().find(|field| !now.contains(field)))?;
    Some(format!("{name} was {} and is now {}", value(&stored, name), value(&now, name)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_difference_is_named_by_its_path() {
        let run = |nodes: u64, rule: Value| json!({ "player": [{ "name": "a" }, { "name": "b", "limit": { "nodes": nodes } }], "draw_rule": rule });
        let rule = || json!([40, 8]);
        assert_eq!(difference(&run(1, rule()), &run(1, rule())), None);
        let text = difference(&run(1, rule()), &run(2, rule())).unwrap();
        assert_eq!(text, "player 2 limit nodes was 1 and is now 2");
        let text = difference(&run(1, rule()), &run(1, Value::Null)).unwrap();
        assert_eq!(text, "draw rule was [40,8] and is now nothing");
        assert_eq!(difference(&json!({}), &json!({ "seed": 3 })).unwrap(), "seed was nothing and is now 3");
    }

    #[test]
    fn a_number_equals_itself_after_it_was_written() {
        for number in [0.1 + 0.2, 1.0 / 3.0, 1e23, 5e-324, 123_456_789.123_456_78] {
            let stored = serde_json::from_str(&json!({ "k": number }).to_string()).unwrap();
            assert_eq!(difference(&stored, &json!({ "k": number })), None);
        }
    }
}
