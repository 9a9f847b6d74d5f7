"""Small tables of texts."""

from html.parser import HTMLParser

from secant._results.tables import html_table, text_table

HEADER, ROWS = ["who", "n", "what"], [["north", "1,000", "off"], ["<b>", "9", ""]]


def test_columns_stand_below_each_other():
    lines = text_table(HEADER, ROWS, left={0, 2}).splitlines()
    assert lines == ["who        n  what", "north  1,000  off", "<b>        9"]


def test_a_table_without_rows_is_its_header():
    assert text_table(HEADER, []) == "who  n  what"


def test_a_page_shows_texts_as_they_are():
    class Cells(HTMLParser):
        def __init__(self):
            super().__init__()
            self.found = []

        def handle_data(self, data):
            self.found.append(data)

    page = Cells()
    page.feed(html_table(HEADER, ROWS, left={0}))
    assert page.found == [*HEADER, "north", "1,000", "off", "<b>", "9"]
    assert html_table(HEADER, ROWS, left={0}).count('style="text-align:left"') == 3
