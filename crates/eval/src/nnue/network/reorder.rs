//! The order of a pairwise network's hidden neurons, which changes no evaluation.

use super::Network;

impl Network {
    /// Moves pairs of hidden neurons, so that pair `i` is the former pair `order[i]`; `None` if the network is not
    /// pairwise or `order` does not name each pair once.
    pub fn with_pairs_in(&self, order: &[usize]) -> Option<Network> {
        let shape = &self.architecture;
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        let each_once = sorted.into_iter().eq(0..shape.outputs_per_perspective());
        if !shape.activation.has_pairs() || !each_once {
            return None;
        }
        let mut weights = self.weights();
        weights.reorder_pairs(shape, order);
        Network::new(shape.clone(), &weights, self.about.clone())
    }
}

#[cfg(test)]
mod tests {
    use crate::evaluator::Evaluator;
    use crate::nnue::network::tests::{random_of, shapes};
    use crate::nnue::{Activation, Nnue};
    use patzer_chess::rng::Rng;
    use patzer_chess::testing::along_random_games;

    #[test]
    fn networks_with_pairs_in_another_order_evaluate_alike() {
        for (seed, shape) in shapes().iter().enumerate() {
            let network = random_of(shape, seed as u64);
            let pairs = shape.outputs_per_perspective();
            let mut order: Vec<usize> = (0..pairs).collect();
            let mut rng = Rng::new(4);
            (1..pairs).for_each(|last| order.swap(last, rng.below(last + 1)));
            let Some(moved) = network.with_pairs_in(&order) else {
                assert_ne!(shape.activation, Activation::Pairwise);
                continue;
            };
            assert!(pairs < 2 || moved.body() != network.body(), "{shape}");
            let (mut before, mut after) = (Nnue::new(network.clone().into()), Nnue::new(moved.into()));
            along_random_games(3, 2, 60, |position| {
                assert_eq!(after.evaluate(position, 0), before.evaluate(position, 0), "{shape}");
            });
            order[0] = order[pairs - 1] + usize::from(pairs == 1);
            assert!(network.with_pairs_in(&order).is_none() && network.with_pairs_in(&[]).is_none());
        }
    }
}
