#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/api.md lists the endpoints that api/openapi.yaml has, with the parameters that they take."""

import difflib
import sys

import api_table


def main():
    _, now, _ = api_table.parts()
    changed = list(difflib.unified_diff(now.splitlines(), api_table.table().splitlines(), "docs/api.md", "api/openapi.yaml", lineterm="", n=0))
    if changed:
        print("\n".join(changed) + "\nthe table is not of this openapi.yaml: python3 tests/docs/api_table.py --write")
    else:
        print(f"{sum(1 for _ in api_table.endpoint_rows())} endpoints")
    sys.exit(1 if changed else 0)


main()
