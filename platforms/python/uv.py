"""Runs uv with the settings that people give pip: one set of variables serves both."""

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


if __name__ == "__main__":
    uv = os.path.join(os.path.dirname(sys.executable), "uv")
    os.execve(uv, [uv, *sys.argv[1:]], {**os.environ, **settings(os.environ)})
