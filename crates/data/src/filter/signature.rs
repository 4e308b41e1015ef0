//! Filter by signatures of material, as tablebases name endings: `KRPvKR`.

use serde::Deserialize;
use shakmaty::Role;

use super::PieceCounts;
use super::listed::Keep;
use super::registry::{Filter, FilterRow, ParamValues, choice, params, text};
use patzer_io::error::{Error, Result};

pub(super) const ROWS: &[FilterRow] = &[FilterRow::position(
    "material",
    "its material, whichever side has which, is none of the signatures, or with keep=others is one",
    &[
        text(
            "signatures",
            "such as KRPvKR or KRP*vKRP*,KQvKR: * any number of the piece before, + one or more; * alone any pieces",
            "*v*",
        ),
        choice("keep", "which positions stay", &["listed", "others"]),
    ],
    material,
)];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Material {
    signatures: String,
    keep: Keep,
}

fn material(values: ParamValues) -> Result<Filter> {
    let Material { signatures, keep } = params(values)?;
    let signature = |text: &str| {
        Signature::parse(text.trim()).ok_or_else(|| {
            Error::usage(format!(
                "filter `material`: `{text}` is not a signature such as KRPvKR or KRP*vKRP*, pieces of two sides"
            ))
        })
    };
    let signatures: Vec<Signature> = signatures.split(',').map(signature).collect::<Result<_>>()?;
    Ok(Box::new(move |record| {
        let counts = PieceCounts::of(&record.board);
        signatures.iter().any(|signature| signature.matches(&counts)) == (keep == Keep::Listed)
    }))
}

/// Material of both sides.
#[derive(Debug, PartialEq)]
struct Signature([Side; 2]);

/// The least and the greatest number of pawns, knights, bishops, rooks and queens.
type Side = [(u32, u32); 5];

impl Signature {
    /// Two sides with `v` between them, or with the second king beginning the second side.
    fn parse(text: &str) -> Option<Signature> {
        let (one, other) = match text.split_once('v') {
            Some(sides) => sides,
            None => text.split_at(text.rfind('K')?),
        };
        Some(Signature([side(one)?, side(other)?]))
    }

    fn matches(&self, counts: &PieceCounts) -> bool {
        let fits = |side: &Side, roles: &[u32; 6]| {
            side.iter().zip(roles).all(|((min, max), count)| (min..=max).contains(&count))
        };
        let [one, other] = &self.0;
        let (white, black) = (&counts.white_roles, &counts.black_roles);
        fits(one, white) && fits(other, black) || fits(one, black) && fits(other, white)
    }
}

fn side(text: &str) -> Option<Side> {
    if text == "*" {
        return Some([(0, u32::MAX); 5]);
    }
    let mut side: Side = [(0, 0); 5];
    let mut last = None;
    for sign in text.strip_prefix('K')?.chars() {
        match sign {
            '*' | '+' => {
                let (min, max): &mut (u32, u32) = &mut side[last.take()?];
                *min -= u32::from(sign == '*');
                *max = u32::MAX;
            }
            _ => {
                let role =
                    Role::from_char(sign).filter(|role| sign.is_ascii_uppercase() && *role != Role::King)?;
                let index = role as usize - Role::Pawn as usize;
                let (min, max) = &mut side[index];
                (*min, *max) = (*min + 1, max.saturating_add(1));
                last = Some(index);
            }
        }
    }
    Some(side)
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::{PackedBoard, fen};

    fn matches(signature: &str, fen: &str) -> bool {
        let board = PackedBoard::pack(&fen::position(fen, false).unwrap());
        Signature::parse(signature).unwrap().matches(&PieceCounts::of(&board))
    }

    #[test]
    fn a_signature_matches_its_material_of_either_colour() {
        for fen in ["8/8/4k3/4r3/8/4P3/R2K4/8 w - - 0 1", "8/4p3/4k3/4r3/8/8/R2K4/8 w - - 0 1"] {
            for signature in ["KRPvKR", "KRPKR", "KRvKRP", "KRP*vKRP*", "KRP+vKR", "KRv*", "*v*", "KN*RPvKR"]
            {
                assert!(matches(signature, fen), "{signature} {fen}");
            }
            for signature in ["KRvKR", "KRPvKRP", "KRP+vKRP+", "KRPP*vKRP+", "KPvK", "KQP*v*", "KvK"] {
                assert!(!matches(signature, fen), "{signature} {fen}");
            }
        }
        assert!(matches("KvK", "8/8/4k3/8/8/8/3K4/8 w - - 0 1"));
        assert!(matches("KP*PvK", "8/8/4k3/8/8/8/3KP3/8 w - - 0 1"));
    }

    #[test]
    fn what_is_no_signature_is_refused() {
        for text in
            ["", "*", "K", "KR", "krvkr", "KRvKRvK", "KRKPK", "K*vK", "KR**vK", "RvK", "KXvK", "KKvK", "v"]
        {
            assert_eq!(Signature::parse(text), None, "{text}");
        }
    }
}
