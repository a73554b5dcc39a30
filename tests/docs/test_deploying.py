"""The container files of the docs name what is there. They are read and not run: no engine is."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "fastapi"


def test_the_image_copies_what_exists_and_starts_the_service():
    lines = (FOLDER / "Dockerfile").read_text("utf-8").replace("\\\n", " ").splitlines()
    steps = [line.split() for line in lines if line and not line.startswith("#")]
    known = {"FROM", "WORKDIR", "COPY", "RUN", "USER", "EXPOSE", "HEALTHCHECK", "CMD"}
    assert {step[0] for step in steps} == known
    copied = [step[1:-1] for step in steps if step[0] == "COPY" and "--from=build" not in step]
    assert all((ROOT / path).exists() for paths in copied for path in paths)
    assert "service:app" in lines[-1]
    # Whatever the build needs is copied: the wheel's packages, and what its metadata names.
    needed = {"pyproject.toml", "README.md", "LICENSE", "ctxmw", "adapters"}
    assert needed <= {path for paths in copied for path in paths}


def test_the_image_installs_extras_that_exist():
    extras = re.search(r"whl\)\[([\w,]+)\]", (FOLDER / "Dockerfile").read_text("utf-8"))
    declared = (ROOT / "pyproject.toml").read_text("utf-8")
    assert extras
    assert all(f"\n{name} = [" in declared for name in extras[1].split(","))


def test_the_services_find_each_other():
    services = yaml.safe_load((FOLDER / "compose.yaml").read_text("utf-8"))["services"]
    service, db = services["service"], services["db"]
    memory = service["environment"]["MEMORY"]
    assert re.fullmatch(r"postgresql://memory:\$\{DB_PASSWORD:\?[^}]+\}@db/memory", memory)
    assert service["depends_on"] == {"db": {"condition": "service_healthy"}}
    build = service["build"]
    assert (FOLDER / build["context"]).resolve() == ROOT
    assert (ROOT / build["dockerfile"]).exists()
    mounted = [path.split(":")[0] for path in db["volumes"] if path.startswith("./")]
    assert mounted
    assert all((FOLDER / path).exists() for path in mounted)


def test_the_script_that_makes_the_role_is_a_script():
    subprocess.run(["sh", "-n", str(FOLDER / "role.sh")], check=True)
