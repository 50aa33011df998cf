import json
import sys
import warnings

import numpy as np
import pytest
import torch

from noumena.cli.diagnose import run_diagnose
from noumena.conditionals import VonMisesFisher
from noumena.spaces import Sphere
from tests.cli.test_main import call

ENCODERS = """
import torch

class Turned(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.normalize(x[:, :3], dim=1)

module = Turned()
def load():
    return Turned()
def wrong():
    return lambda x: x.sum()
number = 3
"""


@pytest.fixture
def folder(tmp_path):
    generator = torch.Generator().manual_seed(0)
    z = Sphere(3).sample_uniform(1500, generator)
    z_pos = VonMisesFisher(20.0).sample(z, generator=generator)
    np.save(tmp_path / "a.npy", z.numpy())
    np.save(tmp_path / "b.npy", z_pos.numpy())
    np.save(tmp_path / "short.npy", z_pos.numpy()[:-1])
    np.save(tmp_path / "objects.npy", np.array([{}, {}], dtype=object), allow_pickle=True)
    noise = torch.randn(1500, 2, generator=generator).numpy()
    np.save(tmp_path / "x.npy", np.concatenate([2 * z.numpy(), noise], axis=1))
    np.save(tmp_path / "x_pos.npy", np.concatenate([3 * z_pos.numpy(), noise], axis=1))
    (tmp_path / "broken.npy").write_bytes(b"no array")
    (tmp_path / "own_encoders.py").write_text(ENCODERS)
    torch.save({"weight": torch.ones(3)}, tmp_path / "pickled.pt")
    return tmp_path


OPTIONS = {"encoder": None, "space": "auto", "batch_size": 512, "seed": 0, "html": None, "as_json": True}


def call_it(folder, *arguments, anchors="a.npy", positives="b.npy"):
    return call("diagnose", "--anchors", str(folder / anchors), "--positives", str(folder / positives), *arguments)


def run(folder, anchors="a.npy", positives="b.npy", test=None, **options):
    files = {"anchors": str(folder / anchors), "positives": str(folder / positives), "test": test}
    run_diagnose(files, **{**OPTIONS, **options})


def test_it_prints_a_table_and_writes_a_page(folder):
    page = folder / "page.html"
    done = call_it(folder, "--html", str(page), "--test", str(folder / "a.npy"), "--batch-size", "64")
    assert done.returncode == 0, done.stderr
    assert "1500 pairs of 3 coordinates, sphere" in done.stdout and f"page: {page}" in done.stdout
    assert "In batches of 64" in done.stdout and "…" not in done.stdout
    text = page.read_text(encoding="utf-8")
    assert "domain" in text and "What to change" in text and "https://" not in text


def test_it_prints_what_a_program_can_read(folder):
    done = call_it(folder, "--json", "--factors", str(folder / "a.npy"), "--factors-positive", str(folder / "b.npy"))
    assert done.returncode == 0 and not done.stderr.strip(), done.stderr
    found = json.loads(done.stdout)
    readings = {reading["name"]: reading for reading in found["readings"]}
    assert found["space"] == "sphere" and found["page"] is None
    assert readings["factors"]["value"] > 0.99 and readings["diversity"]["interval"] == [0, 0]


def test_a_wrong_call_exits_2_with_one_line(folder):
    done = call_it(folder, "--json", positives="short.npy")
    assert done.returncode == 2 and not done.stdout
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert len(lines) == 1 and lines[0].startswith("noumena: ") and "got 1499" in lines[0]


@pytest.mark.parametrize("name", ["own_encoders:module", "own_encoders:load", "script.pt"])
def test_an_encoder_by_name_or_as_torchscript(folder, name, monkeypatch, capsys):
    monkeypatch.chdir(folder)  # what is named is looked for in the folder of the call
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "own_encoders", raising=False)
    if name == "script.pt":
        scope: dict = {}
        exec(ENCODERS, scope)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            torch.jit.save(torch.jit.trace(scope["module"], torch.ones(2, 5)), "script.pt")
    run(folder, anchors="x.npy", positives="x_pos.npy", encoder=name)
    found = json.loads(capsys.readouterr().out)
    assert found["dim"] == 3 and found["space"] == "sphere"
    assert np.allclose(found["readings"][2]["details"]["precision"], 10, rtol=0.3)


WRONG = {
    "objects": ({"positives": "objects.npy"}, ValueError, ".npy file of numbers"),
    "broken": ({"positives": "broken.npy"}, ValueError, ".npy file of numbers"),
    "missing": ({"test": "missing.npy"}, FileNotFoundError, "no file `missing.npy` for `--test`"),
    "space": ({"space": "spher"}, ValueError, "did you mean 'sphere'"),
    "page": ({"html": "no-such-folder/page.html"}, FileNotFoundError, "no folder"),
    "pickle": ({"encoder": "pickled.pt"}, ValueError, "Pickles are not loaded"),
    "no file": ({"encoder": "missing.pt"}, FileNotFoundError, "no encoder"),
    "no module": ({"encoder": "no_such_module:load"}, LookupError, "no module"),
    "no name": ({"encoder": "own_encoders:lod"}, LookupError, "no `lod`"),
    "a number": ({"encoder": "own_encoders:number"}, ValueError, "must lead to a module"),
    "a scalar": ({"encoder": "own_encoders:wrong"}, ValueError, r"into \(n, d\)"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_calls(folder, name, monkeypatch):
    options, error, message = WRONG[name]
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "own_encoders", raising=False)
    with pytest.raises(error, match=message):
        run(folder, **options)
