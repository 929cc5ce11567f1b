"""`tools/readme_commands.py` finds the commands of the README; `make smoke` runs them."""

import readme_commands


def test_commands_stand_in_blocks_and_lose_what_explains_them():
    block = "```\noptmodels a --x=1     told\noptmodels b  # told\n$ other\n```\n"
    text = f"optmodels no\n{block}optmodels no\n```python\nx\n```\n"
    assert readme_commands.commands(text) == [["a", "--x=1"], ["b"]]


def test_limits_are_cut():
    [words] = readme_commands.commands("```\noptmodels compare x --seconds 60 --seeds 5 --out runs\n```")
    assert words == ["compare", "x", "--seconds", "1", "--seeds", "1", "--out", "runs"]


def test_the_readme_shows_commands_that_answer(root):
    shown = [words[0] for words in readme_commands.commands((root / "README.md").read_text(encoding="utf-8"))]
    assert {"demo", "list", "new", "check", "solve", "plot", "verify", "compare", "sweep", "doctor"} <= set(shown)
