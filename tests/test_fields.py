"""The tables of fields in the documentation are what the models say."""

from pathlib import Path

import fields
import pytest

ROOT = Path(__file__).parents[1]


def test_the_tables_of_fields_are_what_the_models_say():
    assert [file.name for file in fields.stale(ROOT)] == [], "run `make fields`"


def test_a_stale_table_is_noticed_and_written_anew(tmp_path):
    text = (ROOT / "docs" / "routing.md").read_text(encoding="utf-8")
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs" / "routing.md"
    page.write_text(text.replace("| `period` | whole number |", "| `period` | text |"), encoding="utf-8")
    assert fields.stale(tmp_path) == {page: text}


@pytest.mark.parametrize(
    "document", ["", fields.BEGIN, f"{fields.END}\n{fields.BEGIN}", f"{fields.BEGIN}{fields.END}" * 2]
)
def test_markers_must_be_there_once(document):
    with pytest.raises(ValueError, match="the fields of routing stand between two lines, once each"):
        fields.refreshed(document, "routing")
