#!/bin/sh
# Runs Gradle: in the version that the wrapper names, and where that cannot be fetched the installed one.
wrapper=gradle/wrapper/gradle-wrapper.properties
if sh ./gradlew --no-daemon --version >"$TMPDIR/gradle-version" 2>&1; then
  exec sh ./gradlew "$@"
fi
tail -n 5 "$TMPDIR/gradle-version"
asked=$(sed -n 's/^distributionUrl=//p' "$wrapper" | tr -d '\\')
if command -v gradle >/dev/null 2>&1; then
  echo "The wrapper could not run $asked: the installed Gradle is used in its place ($(command -v gradle))."
  exec gradle "$@"
fi
echo "The wrapper could not run $asked, which $wrapper names, and no Gradle is installed."
exit 1
