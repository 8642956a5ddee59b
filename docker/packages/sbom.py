#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sbom.py TREE VERSION URL LOCK NODE_MODULES OUT.json LICENCES: what is inside the programs of TREE.

Libraries come from what jviewd says of itself and from the packages that own them here, the page's
parts from the lock file. OUT is CycloneDX 1.5; LICENCES gets each one's text.
"""

import base64
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys
import uuid

# What jviewd --version --verbose calls it -> the Debian package that it is linked from, the licence.
LIBRARIES = {
    "CivetWeb": ("libcivetweb1", "MIT"),
    "SQLite": ("libsqlite3-dev", "blessing"),
    "Jansson": ("libjansson-dev", "MIT"),
    "nghttp2": ("libnghttp2-dev", "MIT"),
    "expat": ("libexpat1-dev", "MIT"),
    "libzstd": ("libzstd-dev", "BSD-3-Clause"),
    "ISA-L": ("libisal2", "BSD-3-Clause"),
    "liblzma": ("liblzma-dev", "0BSD"),
    "libzip": ("libzip4", "BSD-3-Clause"),
    "Snappy": ("libsnappy-dev", "BSD-3-Clause"),
    "xxHash": ("libxxhash-dev", "BSD-2-Clause"),
    "libseccomp": ("libseccomp2", "LGPL-2.1-only"),
}
SYSTEM = {"glibc"}
# Linked in because those above ask for it, and silent about themselves.
BENEATH = {"zlib": ("zlib1g-dev", "Zlib"), "bzip2": ("libbz2-dev", "bzip2-1.0.6"),
           "libstdc++": ("libstdc++-12-dev", "GPL-3.0-or-later WITH GCC-exception-3.1")}


def package_version(package):
    shown = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], check=True, capture_output=True, text=True)
    return shown.stdout


def libraries(program):
    """{name: version} as the program tells."""
    told = subprocess.run([program, "--version", "--verbose"], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in told.splitlines()[1:]:
        if not line.startswith("  "):
            break
        name, version = line.split()
        found[name] = version
    return found


def native(program, licences):
    told = libraries(program)
    unknown = set(told) - set(LIBRARIES) - SYSTEM
    if unknown or not told:
        sys.exit(f"sbom: jviewd names libraries that are not known here: {sorted(unknown)}")
    rows = {name: (version, *LIBRARIES[name]) for name, version in told.items() if name not in SYSTEM}
    rows.update({name: (None, *row) for name, row in BENEATH.items()})
    for name, (version, package, licence) in sorted(rows.items()):
        packaged = package_version(package)
        text = pathlib.Path("/usr/share/doc", package, "copyright")
        shutil.copyfile(text, licences / f"{name}.txt")
        yield {"type": "library", "bom-ref": f"native/{name}", "name": name,
               "version": version or packaged.split(":")[-1].split("-")[0].split("+")[0],
               "licenses": [{"expression": licence}], "purl": f"pkg:deb/debian/{package}@{packaged}"}


def web(lock, modules, licences):
    """What the page carries: everything in the lock file that is no tool of its making."""
    for path, entry in sorted(json.loads(lock.read_text())["packages"].items()):
        name = path.rpartition("node_modules/")[2]
        if not name or entry.get("dev") or entry.get("optional") or entry.get("devOptional"):
            continue
        algorithm, digest = entry["integrity"].split("-", 1)
        texts = sorted(text for text in (modules / name).glob("LICEN[CS]E*"))
        if not texts:
            sys.exit(f"sbom: {name} has no licence text")
        shutil.copyfile(texts[0], licences / (name.strip("@").replace("/", "-") + ".txt"))
        yield {"type": "library", "bom-ref": f"web/{name}", "name": name, "version": entry["version"],
               "hashes": [{"alg": algorithm.upper().replace("SHA", "SHA-"), "content": base64.b64decode(digest).hex()}],
               "licenses": [{"expression": entry["license"]}],
               "purl": f"pkg:npm/{name.replace('@', '%40')}@{entry['version']}"}


def main():
    tree, version, url, lock, modules, out, licences = sys.argv[1:]
    licences = pathlib.Path(licences)
    licences.mkdir(parents=True, exist_ok=True)
    components = [*native(pathlib.Path(tree, "bin/jviewd"), licences),
                  *web(pathlib.Path(lock), pathlib.Path(modules), licences)]
    when = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    listing = "".join(f"{part['name']:<24} {part['version']:<12} {part['licenses'][0]['expression']}\n"
                      for part in components)
    (licences / "LIST").write_text(listing)
    bom = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
           "serialNumber": "urn:uuid:" + str(uuid.uuid5(uuid.NAMESPACE_OID, f"jviewd {version} {listing} {when}")),
           "metadata": {"timestamp": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
                        "component": {"type": "application", "bom-ref": "jviewd", "name": "jviewd", "version": version,
                                      "author": "the jviewd authors", "licenses": [{"expression": "Apache-2.0"}],
                                      **({"externalReferences": [{"type": "website", "url": url}]} if url else {})}},
           "components": components,
           "dependencies": [{"ref": "jviewd", "dependsOn": [part["bom-ref"] for part in components]}]}
    pathlib.Path(out).write_text(json.dumps(bom, indent=1) + "\n")


if __name__ == "__main__":
    main()
