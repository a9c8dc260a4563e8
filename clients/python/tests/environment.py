"""Runs a program of the environment that uv.lock describes, which it makes first, once:

python3 clients/python/tests/environment.py pytest clients/python
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
CACHE = PROJECT.parents[1] / "node_modules/.cache/clients"
UV = "uv==0.13.8"


def environment() -> Path:
    described = [(PROJECT / name).read_bytes() for name in ("pyproject.toml", "uv.lock")]
    made_for = hashlib.sha256(b"".join([*described, UV.encode(), sys.version.encode()])).hexdigest()
    folder = CACHE / f"brand-records-python-{made_for[:12]}"
    CACHE.mkdir(parents=True, exist_ok=True)
    # Test files that run at the same time wait for one of them.
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            make(folder)
            (folder / "complete").touch()
    return folder


def make(folder: Path) -> None:
    installer = folder.with_suffix(".uv")
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(installer, clear=True, with_pip=True)
    subprocess.run([installer / "bin/pip", "install", "--quiet", "--disable-pip-version-check", UV], check=True)
    settings = {"UV_PROJECT_ENVIRONMENT": str(folder), "UV_PYTHON": sys.executable, "UV_PYTHON_DOWNLOADS": "never"}
    subprocess.run([installer / "bin/uv", "sync", "--locked", "--quiet", "--project", PROJECT], env=os.environ | settings, check=True)


if __name__ == "__main__":
    program = environment() / "bin" / sys.argv[1]
    os.execv(program, [str(program), *sys.argv[2:]])
