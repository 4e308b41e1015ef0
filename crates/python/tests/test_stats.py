"""Statistics, compared with `patzer elo --json`."""

import json

import pytest

import patzer


@pytest.mark.parametrize(
    "counts", [{"ptnml": [34, 54, 63, 64, 75]}, {"wdl": (136, 111, 96)}, {"ptnml": [0, 0, 9, 0, 0]}, {"wdl": [0, 0, 0]}]
)
@pytest.mark.parametrize("test", [{}, {"elo0": -2.5, "elo1": 1.5, "alpha": 0.1, "beta": 0.01, "model": "logistic"}])
def test_elo_and_llr_equal_the_command(patzer_cli, counts, test):
    (key, values), = counts.items()
    flags = [f"--{name.replace('model', 'elo-model')}={value}" for name, value in test.items()]
    printed = json.loads(patzer_cli("elo", f"--{key}", ",".join(map(str, values)), *flags, "--json"))
    assert patzer.elo(**counts, **test) == printed
    assert patzer.llr(**counts, **test) == printed["llr"]


def test_the_bayesian_model_counts_games(patzer_cli):
    printed = json.loads(patzer_cli("elo", "--wdl", "136,111,96", "--elo-model", "bayesian", "--json"))
    assert patzer.elo(wdl=[136, 111, 96], model="bayesian") == printed
    with pytest.raises(ValueError, match="counts single games"):
        patzer.llr(ptnml=[1, 2, 3, 4, 5], model="bayesian")


def test_wrong_arguments_are_exceptions():
    for wrong in [{}, {"ptnml": [1] * 5, "wdl": [1] * 3}]:
        with pytest.raises(ValueError, match="one of ptnml and wdl"):
            patzer.elo(**wrong)
    with pytest.raises(ValueError, match="normalized, logistic or bayesian"):
        patzer.elo(wdl=[1, 2, 3], model="elo")
    with pytest.raises(ValueError, match="the first must be the lower"):
        patzer.llr(wdl=[1, 2, 3], elo0=5, elo1=0)
    with pytest.raises(ValueError, match="beyond"):
        patzer.elo(wdl=[10**16, 0, 0])
    with pytest.raises(ValueError):
        patzer.elo(ptnml=[1, 2, 3])
    with pytest.raises(OverflowError):
        patzer.elo(wdl=[-1, 2, 3])
