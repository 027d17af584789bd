"""Runs uv with the settings that people give pip: one set of variables serves both."""

import contextlib
import os
import sys

SETTINGS = {
    "UV_DEFAULT_INDEX": ("PIP_INDEX_URL", " "),
    "UV_INDEX": ("PIP_EXTRA_INDEX_URL", " "),
    "UV_FIND_LINKS": ("PIP_FIND_LINKS", ","),
    "UV_INSECURE_HOST": ("PIP_TRUSTED_HOST", " "),
    "UV_HTTP_TIMEOUT": ("PIP_DEFAULT_TIMEOUT", " "),
    "UV_CONSTRAINT": ("PIP_CONSTRAINT", " "),
    "UV_NO_BINARY_PACKAGE": ("PIP_NO_BINARY", " "),
}


def settings(environment):
    """The variables that uv lacks, from those of pip."""
    found = {}
    for name, (pip, separator) in SETTINGS.items():
        if environment.get(pip) and not environment.get(name):
            found[name] = separator.join(environment[pip].replace(",", " ").split())
    certificates = environment.get("PIP_CERT") or environment.get("REQUESTS_CA_BUNDLE")
    if certificates and not environment.get("SSL_CERT_FILE"):
        found["SSL_CERT_FILE"] = certificates
    return found


def link_mode(environment):
    """Links for the first packages that the cache gets: to write thousands of small files twice is what takes longest. Files that
    the environment shares with the cache become read-only with it, so later ones are copied."""
    cache, target = environment.get("UV_CACHE_DIR"), environment.get("UV_PROJECT_ENVIRONMENT")
    if not cache or not target or os.path.exists(cache):
        return {}
    return {"UV_LINK_MODE": "hardlink"} if can_link(os.path.dirname(cache), target) else {}


def can_link(source, target):
    names = [os.path.join(directory, f".link-{os.getpid()}") for directory in (source, target)]
    try:
        with open(names[0], "x"):
            pass
        os.link(*names)
        return True
    except OSError:
        return False
    finally:
        for name in names:
            with contextlib.suppress(OSError):
                os.unlink(name)


if __name__ == "__main__":
    uv = os.path.join(os.path.dirname(sys.executable), "uv")
    os.execve(uv, [uv, *sys.argv[1:]], {**os.environ, **settings(os.environ), **link_mode(os.environ)})
