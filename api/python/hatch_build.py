# SPDX-License-Identifier: Apache-2.0
"""The wheel's build hook: takes the programs of $JVIEWD_TREE into the package, and $JVIEWD_PLATFORM as the machines that they run on.

The version and the project's address are those of CMakeLists.txt.
"""

import os
import re
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

TOP = Path(__file__).resolve().parents[2]


def version():
    return re.search(r"project\(jviewd VERSION ([0-9.]+)", (TOP / "CMakeLists.txt").read_text())[1]


class Address(MetadataHookInterface):
    PLUGIN_NAME = "custom"

    def update(self, metadata):
        url = re.search(r'set\(JVIEWD_URL "([^"]*)"\)', (TOP / "CMakeLists.txt").read_text())[1]
        metadata["urls"] = {"Homepage": url} if url else {}


class Programs(BuildHookInterface):
    PLUGIN_NAME = "custom"

    def initialize(self, version, build_data):
        tree = Path(os.environ["JVIEWD_TREE"])
        for folder in ("bin", "lib/jviewd"):
            for file in sorted((tree / folder).iterdir()):
                build_data["force_include"][str(file)] = f"jviewd/program/{folder}/{file.name}"
        texts = "share/doc/jviewd/LICENSE", "share/doc/jviewd/licences", "share/doc/jviewd/sbom.cdx.json"
        build_data["force_include"].update({str(tree / text): f"jviewd/program/{text}" for text in texts})
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{os.environ['JVIEWD_PLATFORM']}"
