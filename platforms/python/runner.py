#!/usr/bin/env python3
"""Stands for uv, poetry and pipenv: runs a command in the environment that the build has made. Nothing is installed by it."""

import os
import re
import shlex
import shutil
import sys

# Options that take a value, and those that ask for something that is not there.
WITH_VALUE = {"--directory", "-C", "--project", "-P", "--env-file", "--group", "--extra", "--python", "-p", "--package", "--config-file"}
ADDING = {"--with", "--with-editable", "--with-requirements", "-w"}


def fail(text):
    print(text, file=sys.stderr)
    raise SystemExit(2)


def command_of(name, arguments):
    """The words behind `run` and the options of the tool itself."""
    words = list(arguments)
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] in WITH_VALUE else words[1:]
    if not words or words[0] != "run":
        asked = f"{name} {words[0]}" if words else name
        fail(f"{asked} is not there in units and hooks: packages are installed by the build. What works is: {name} run <command>")
    words = words[1:]
    while words and words[0].startswith("-"):
        option = words[0].split("=")[0]
        if option in ADDING:
            fail(f"{name} run {option} would install something: add it to the packages of the project, commit and push again.")
        if option in ("-m", "--module"):
            return ["python", "-m", *words[1:]]
        if option in ("-s", "--script"):
            return ["python", *words[1:]]
        if option == "--":
            return words[1:]
        words = words[2:] if words[0] in WITH_VALUE else words[1:]
    return words


def script_of(word):
    """What Pipfile calls so in its section `scripts`."""
    try:
        with open("Pipfile", "rb") as file:
            import tomllib

            found = tomllib.load(file).get("scripts", {}).get(word)
    except (ImportError, OSError, ValueError):
        return None
    return shlex.split(found) if isinstance(found, str) else None


def own_script(word):
    """What runs a script that pyproject.toml names: the project itself is not installed, its code is found."""
    try:
        with open("pyproject.toml", "rb") as file:
            import tomllib

            project = tomllib.load(file)
            tables = (project.get("project", {}), project.get("tool", {}).get("poetry", {}))
            found = next((table["scripts"][word] for table in tables if word in table.get("scripts", {})), None)
    except (AttributeError, ImportError, KeyError, OSError, TypeError, ValueError):
        return None
    named = re.fullmatch(r"\s*([\w.]+)\s*:\s*(\w+)([\w.]*)\s*(?:\[.*\])?\s*", found) if isinstance(found, str) else None
    if named is None:
        return None
    module, function, rest = named.groups()
    return ["python", "-c", f"import sys; sys.argv[0] = {word!r}; from {module} import {function}; sys.exit({function}{rest}())"]


def main(name, arguments):
    words = command_of(name, arguments)
    if not words:
        fail(f"{name} run needs a command.")
    if name == "pipenv":
        words = [*(script_of(words[0]) or words[:1]), *words[1:]]
    if name != "pipenv" and shutil.which(words[0]) is None:
        words = [*(own_script(words[0]) or words[:1]), *words[1:]]
    if name == "uv" and words[0].endswith(".py"):
        words = ["python", *words]
    try:
        os.execvp(words[0], words)
    except FileNotFoundError:
        fail(f"{name} run: there is no program {words[0]} in the environment: add the package that brings it, commit and push again.")


if __name__ == "__main__":
    main(os.path.basename(sys.argv[0]), sys.argv[1:])
