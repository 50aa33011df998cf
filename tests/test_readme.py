"""The README's example runs as printed and recovers what it says."""

import re
from pathlib import Path


def test_the_example_recovers_the_latents(capsys):
    text = (Path(__file__).parents[1] / "README.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
    r2, error = map(float, capsys.readouterr().out.split())
    assert r2 > 0.98 and error < 0.03
