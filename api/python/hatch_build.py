"""The wheel's build hook: takes the programs, staged by `wheel`, into the package, and names the machines that they run on.

    $JVIEWD_STAGE/bin/jviewd, jview-collect           the programs
    $JVIEWD_STAGE/bin/lib*.so*                        what they need and few machines have
    $JVIEWD_STAGE/platform                            manylinux_2_34_x86_64

The version is the project's own, in CMakeLists.txt.
"""

import os
import re
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TOP = Path(__file__).resolve().parents[2]


def version():
    return re.search(r"project\(jviewd VERSION ([0-9.]+)", (TOP / "CMakeLists.txt").read_text())[1]


class Programs(BuildHookInterface):
    PLUGIN_NAME = "custom"

    def initialize(self, version, build_data):
        stage = Path(os.environ["JVIEWD_STAGE"])
        for file in sorted((stage / "bin").iterdir()):
            build_data["force_include"][str(file)] = f"jviewd/bin/{file.name}"
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + (stage / "platform").read_text().strip()
