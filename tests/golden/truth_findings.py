#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each rule fires on exactly the profiles that findings_expected.txt says."""
import sys

import findings_table

if __name__ == "__main__":
    sys.exit(findings_table.main())
