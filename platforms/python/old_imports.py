"""Installs what packages import without asking for it: pkg_resources, and distutils where Python has none any more.

Both come with setuptools before 81, which once was in every virtual environment. Arguments: the environment, and the command that
installs into it, without the package."""

import os
import re
import subprocess
import sys

SETUPTOOLS = "setuptools<81"
# What is imported inside of something may be missing.
IMPORTS = re.compile(rb"^(?:import|from)[ \t]+(pkg_resources|distutils)\b", re.MULTILINE)
# Not run by the app.
ASIDE = {"setuptools", "pkg_resources", "_distutils_hack", "tests", "test", "testing", "__pycache__"}


def packages_of(environment):
    """The directory of packages, and the version of its Python: `lib/python3.11/site-packages`."""
    library = os.path.join(environment, "lib")
    for name in sorted(os.listdir(library)):
        found = re.fullmatch(r"python(\d+)\.(\d+)", name)
        if found:
            return os.path.join(library, name, "site-packages"), (int(found[1]), int(found[2]))
    raise SystemExit(f"There are no packages in {environment}.")


def importing(packages, missing):
    """The first file that needs one of the missing modules, and which one."""
    for directory, inside, names in os.walk(packages):
        inside[:] = sorted(name for name in inside if name not in ASIDE)
        for file_name in sorted(names):
            if not file_name.endswith(".py"):
                continue
            path = os.path.join(directory, file_name)
            with open(path, "rb") as file:
                text = file.read()
            # Most have none, and to look at each line takes long.
            if not any(name.encode() in text for name in missing):
                continue
            for found in IMPORTS.finditer(text):
                if found[1].decode() in missing:
                    return os.path.relpath(path, packages), found[1].decode()
    return None


def missing_modules(packages, version):
    if os.path.isdir(os.path.join(packages, "pkg_resources")):
        return set()
    return {"pkg_resources"} if version < (3, 12) else {"pkg_resources", "distutils"}


def main(environment, install):
    packages, version = packages_of(environment)
    missing = missing_modules(packages, version)
    found = importing(packages, missing) if missing else None
    if found is None:
        return
    path, module = found
    print(f"{path} imports {module}, which nothing brings: {SETUPTOOLS} is installed", flush=True)
    raise SystemExit(subprocess.run([*install, SETUPTOOLS]).returncode)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
