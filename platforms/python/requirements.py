"""Writes requirements.txt and constraints.txt from pyproject.toml and a lock file beside it.

The project's own dependencies become requirements; every version a poetry.lock or pdm.lock names becomes a constraint.
"""

import os
import re
import sys

try:
    import tomllib
except ImportError:
    from pip._vendor import tomli as tomllib


def load(path):
    if not os.path.exists(path):
        return {}
    with open(path, "rb") as file:
        try:
            return tomllib.load(file)
        except tomllib.TOMLDecodeError as error:
            sys.exit(f"{path} is not valid TOML: {error}")


def poetry_range(version):
    """Poetry's caret and tilde as comparisons pip understands."""
    parts = []
    for term in (part.strip() for part in version.split(",")):
        if term in ("", "*"):
            continue
        operator, number = (term[0], term[1:]) if term[0] in "^~" and not term.startswith("~=") else ("", term)
        if not operator:
            parts.append(term if term[0] in "<>=!~" else f"=={term}")
            continue
        digits = [int(digit) for digit in re.findall(r"\d+", number)[:3]]
        if operator == "^":
            fixed = next((place for place, digit in enumerate(digits) if digit), len(digits) - 1)
        else:
            fixed = min(1, len(digits) - 1)
        upper = digits[: fixed + 1]
        upper[-1] += 1
        parts.append(f">={number}")
        parts.append("<" + ".".join(str(digit) for digit in upper))
    return ",".join(parts)


def poetry_requirement(name, wanted):
    if isinstance(wanted, list):
        return [line for one in wanted for line in poetry_requirement(name, one)]
    if isinstance(wanted, str):
        return [name + poetry_range(wanted)]
    if wanted.get("optional"):
        return []
    extras = "[" + ",".join(wanted["extras"]) + "]" if wanted.get("extras") else ""
    marker = f" ; {wanted['markers']}" if wanted.get("markers") else ""
    if "git" in wanted:
        revision = wanted.get("rev") or wanted.get("tag") or wanted.get("branch")
        return [f"{name}{extras} @ git+{wanted['git']}" + (f"@{revision}" if revision else "") + marker]
    if "url" in wanted:
        return [f"{name}{extras} @ {wanted['url']}{marker}"]
    if "path" in wanted:
        return [f"{name}{extras} @ file://{os.path.abspath(wanted['path'])}{marker}"]
    return [name + extras + poetry_range(wanted.get("version", "*")) + marker]


def requirements(project):
    lines = list(project.get("project", {}).get("dependencies", []))
    if lines:
        return lines
    poetry = project.get("tool", {}).get("poetry", {}).get("dependencies", {})
    return [line for name, wanted in poetry.items() if name != "python" for line in poetry_requirement(name, wanted)]


def constraints():
    versions = {}
    for package in load("poetry.lock" if os.path.exists("poetry.lock") else "pdm.lock").get("package", []):
        # Of others than registries pip knows no version.
        others = ("git", "directory", "file", "url")
        if package.get("source", {}).get("type") not in others and not any(key in package for key in (*others, "path")):
            versions.setdefault(package["name"], set()).add(package["version"])
    # A package locked to several versions (one per marker) cannot be expressed as one constraint.
    return [f"{name}=={next(iter(found))}" for name, found in sorted(versions.items()) if len(found) == 1]


def write(path, lines):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


if __name__ == "__main__":
    directory = sys.argv[1]
    wanted = requirements(load("pyproject.toml"))
    pinned = constraints()
    write(os.path.join(directory, "requirements.txt"), wanted)
    write(os.path.join(directory, "constraints.txt"), pinned)
    print(f"{len(wanted)} dependencies, {len(pinned)} locked versions")
