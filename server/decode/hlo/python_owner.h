/* SPDX-License-Identifier: Apache-2.0 */
/* Whose a Python source file is, told by its path: the user's own, an installed package's, JAX's.
 *
 *   /home/me/train.py                               the user's
 *   .../site-packages/optax/_src/update.py          a package's
 *   .../site-packages/jax/_src/api.py               JAX's
 *   <frozen runpy>, <string>                        Python's own: as a package's
 *
 * A file without a path (C++, an address) counts as the user's: it is nobody's package.
 */
#ifndef JVIEWD_DECODE_HLO_PYTHON_OWNER_H
#define JVIEWD_DECODE_HLO_PYTHON_OWNER_H

#include "base/bytes.h"

enum python_owner {
    PYTHON_UNKNOWN,
    PYTHON_JAX,
    PYTHON_PACKAGE,
    PYTHON_USER
}; /* ascending: nearer
       to the user */

enum python_owner python_owner_of(struct str file);

#endif
