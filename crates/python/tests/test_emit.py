"""Inference code, compared with `patzer net emit`."""

import pytest

import patzer


@pytest.mark.parametrize("language, weights", [("c", "embed"), ("cpp", "load"), ("rust", "embed")])
def test_code_equals_that_of_the_command(patzer_cli, tmp_path, language, weights):
    net, file = tmp_path / "small.nnue", tmp_path / "nnue.txt"
    load = ["--load"] if weights == "load" else []
    patzer_cli("net", "init", "-o", net)
    patzer_cli("net", "emit", net, "--format", language, *load, "-o", file)
    assert patzer.emit(net, language, weights) == file.read_text()


def test_what_cannot_be_emitted_is_an_error():
    with pytest.raises(ValueError, match="c, cpp, rust"):
        patzer.emit("default", "pascal")
    with pytest.raises(patzer.DataError, match="is no network"):
        patzer.emit("default-hce")
