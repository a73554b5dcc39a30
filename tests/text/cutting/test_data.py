import json

import pytest

from ctxmw.text.cutting.data import is_data

ROWS = [{"subject": f"box {at}", "batch": 7000 + at, "note": "red, old"} for at in range(20)]
TABLE = "subject,batch,note\n" + "\n".join(f"box {at},{7000 + at},red" for at in range(20))
LOG = "\n".join(f"2026-03-02 09:{at:02d} INFO packed box {at}" for at in range(20))
PIPES = "| box | batch |\n|---|---|\n" + "\n".join(f"| {at} | {7000 + at} |" for at in range(20))


@pytest.mark.parametrize("data", [json.dumps(ROWS), json.dumps(ROWS, indent=2), TABLE, LOG, PIPES])
@pytest.mark.parametrize("before", ["", "Here is what I got:\n", "Hi!\n\nPlease keep this.\n"])
def test_json_tables_and_logs_are_data_also_behind_a_word_of_ones_own(before, data):
    assert is_data(before + data)


PROSE = "I went to the market, the mill and the shop. It rained all day, and nobody was there."
STEPS = "\n".join(f"{at}. Mix {at} cups of flour, then rest the dough." for at in range(1, 20))
CODE = "def pack(box):\n    seal(box)\n    return box\n\n\n" * 8
QUOTED = f'She said: "{PROSE}" and that was "all": ' * 12


@pytest.mark.parametrize(
    "text",
    ["", PROSE * 10, PROSE.replace(" ", "\n"), STEPS, CODE, QUOTED, f"{PROSE * 9}\n{LOG[:99]}"],
)
def test_what_people_write_is_none(text):
    assert not is_data(text)
