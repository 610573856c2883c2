"""TOML that would exhaust its reader is refused in no time; long texts are no keys."""

from __future__ import annotations

import time

import pytest

from cloister.errors import SchemaError
from cloister.schema.strict_json import MOST_LEVELS
from cloister.schema.strict_toml import read_toml

MANY = 50_000
LONG_KEYS = {
    "bare": "a." * MANY + "a = 1",
    "quoted": '"a.".' * MANY + "a = 1",
    "spaced": "a . 'a'\t." * (MANY // 2) + "a = 1",
    "the name of a table": "[" + "a." * MANY + "a]",
    "the name of a list of tables": "[[" + "a." * MANY + "a]]",
    "in a table on one line": "x = {" + "a." * MANY + "a = 1}",
    "after a text that ends in quotes": "x = {y = '''text'''', " + "a." * MANY + "a = 1}",
    "after a text of one line": 'x = {y = "\\"#", ' + "a." * MANY + "a = 1}",
}


@pytest.mark.parametrize("name", LONG_KEYS)
def test_a_dotted_key_of_many_parts_is_refused_unparsed(name: str) -> None:
    """A hundred kilobytes took a minute and gigabytes."""
    start = time.process_time()
    with pytest.raises(SchemaError, match="inside each other"):
        read_toml(LONG_KEYS[name])
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    "text",
    [
        "x = '" + "a." * 500 + "'",
        'x = "' + 'a.\\"' * 500 + '"',
        'x = """\n' + "a." * 500 + '\n"""',
        "x = 1  # " + "a." * 500,
        "'" + "a." * 500 + "' = 1",
        "x = [" + "1.5, " * 500 + "]",
        "a." * (MOST_LEVELS - 2) + "a = 1",
    ],
)
def test_texts_comments_and_numbers_may_have_dots(text: str) -> None:
    """Only the parts of keys are counted."""
    assert read_toml(text)


@pytest.mark.parametrize("unit", ['"\\"', '"""\\', "'''", "'", '"', "a", "a.", "a .", "#", "\\", "''''"])
def test_no_text_takes_the_look_for_keys_long(unit: str) -> None:
    """Strings without an end, and words without a dot, are gone over once."""
    start = time.process_time()
    with pytest.raises(SchemaError):
        read_toml("=" + unit * 50_000 + "." * 100)
    assert time.process_time() - start < 2
