"""Small parts of the page."""

from secant.report import _parts


def test_a_model_that_stands_alone_needs_no_name():
    assert _parts.caption(0, ["a"]) is None
    assert "<bdi>b</bdi>" in _parts.caption(1, ["a", "b"])
    assert _parts.model_name(None, 1) == "Model 2"
    assert _parts.model_name("b", 1) == "b"


def test_a_figure_explains_itself_where_it_has_a_definition():
    made = _parts.strip([("ECCE-R", "0.1", "<b>"), ("<i>", "2", "")])
    assert made.count("tooltip") == 1
    assert "&lt;b&gt;" in made
    assert "&lt;i&gt;" in made
