"""Runs collectstatic of Django; goes on where the settings have no STATIC_ROOT in this environment. Argument: manage.py."""

import os
import runpy
import sys


def main(manage):
    if os.environ.get("DISABLE_COLLECTSTATIC", "0") not in ("", "0"):
        print("DISABLE_COLLECTSTATIC is set: static files are not collected")
        return
    sys.argv = [manage, "collectstatic", "--noinput", "--verbosity", "1"]
    # As Python does for the program that it is given.
    sys.path[0] = os.path.dirname(os.path.abspath(manage))
    try:
        runpy.run_path(manage, run_name="__main__")
    except SystemExit as end:
        if end.code not in (None, 0):
            advise()
        raise
    except Exception as error:
        if type(error).__name__ != "ImproperlyConfigured" or "STATIC_ROOT" not in str(error):
            advise()
            raise
        print("Warning: static files are not collected: the settings set STATIC_ROOT under a condition that is not met here")


def advise():
    print("A build does without this step where the app has the variable: tancho env set DISABLE_COLLECTSTATIC=1", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
