"""The examples of docs/python.md print what the page says."""

import doctest
import re

from conftest import ROOT


def test_the_examples_of_the_page_print_what_it_says(positions, monkeypatch):
    monkeypatch.chdir(positions[0].parent)
    page = (ROOT / "docs/python.md").read_text()
    examples = "\n".join(re.findall(r"```pycon\n(.*?)```", page, re.DOTALL))
    test = doctest.DocTestParser().get_doctest(examples, {}, "docs/python.md", None, 0)
    assert len(test.examples) > 20
    said = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=said.append)
    assert not said, "".join(said)
