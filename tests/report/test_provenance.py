"""Where the numbers come from."""

import secant
import secant.report


def test_provenance_is_shown(tmp_path):
    about = secant.report.Provenance(
        files=["a.parquet", "b.parquet", "c.csv", "d.csv", "e.csv"],
        columns={"outcome": "label", "forecast": "score"},
        elapsed=1.25,
    )
    page = secant.report.render(secant.assess([0, 1], [0.2, 0.7]), provenance=about)
    for part in ("a.parquet", "and 2 more", "Column: outcome", "label", "1.2 s", "e.csv"):
        assert part in page
    assert f"secant {secant.__version__}" in page


def test_the_gate_is_part_of_where_it_comes_from():
    about = secant.report.Provenance(gate=["Gate crossed: <b>."])
    page = secant.report.render(secant.assess([0, 1], [0.2, 0.7]), provenance=about)
    assert "<dt>Gate</dt><dd>Gate crossed: &lt;b&gt;.</dd>" in page
