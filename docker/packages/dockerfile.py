#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dockerfile.py STAGE run|copy|env|user|entry|health: what docker/Dockerfile does, for a shell where no engine runs.

STAGE is `build` or `final`. run: its RUN lines as one command; copy: "FROM TO" of each COPY --from; env: NAME=VALUE, one a line;
user: the number behind the name of USER, as useradd is told; entry and health: the words of ENTRYPOINT and HEALTHCHECK, one a line.
"""

import json
import pathlib
import re
import sys

DOCKERFILE = pathlib.Path(__file__).resolve().parent.parent / "Dockerfile"


def stages():
    """{name: [instruction]}, continued lines joined."""
    text = "\n".join(line for line in DOCKERFILE.read_text().splitlines() if not line.startswith("#"))
    found, name = {}, None
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        if line.startswith("FROM "):
            words = line.split(" AS ")
            name = words[1] if len(words) > 1 else "final"
            found[name] = []
        elif line.strip():
            found[name].append(line)
    return found


def main():
    stage, what = sys.argv[1:]
    for line in stages()[stage]:
        if what == "run" and line.startswith("RUN "):
            print(line[4:])
        elif what == "copy" and line.startswith("COPY --from="):
            print(*line.split()[2:])
        elif what == "env" and line.startswith("ENV "):
            print("\n".join(line.split()[1:]))
        elif what == "user" and line.startswith("RUN ") and "useradd" in line:
            print(re.search(r"--uid (\d+)", line)[1])
        elif what == "entry" and line.startswith("ENTRYPOINT "):
            print("\n".join(json.loads(line[line.index("["):])))
        elif what == "health" and line.startswith("HEALTHCHECK "):
            print("\n".join(json.loads(line[line.index("["):])))


if __name__ == "__main__":
    main()
