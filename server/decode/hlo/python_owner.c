/* SPDX-License-Identifier: Apache-2.0 */
/* Tells by parts of a path whose a Python file is. */
#include "decode/hlo/python_owner.h"

enum python_owner python_owner_of(struct str file)
{
    static const char *const jax[] = {"/jax/_src/", "-packages/jax/", "-packages/jaxlib/"};
    static const char *const packages[] = {"/site-packages/", "/dist-packages/", "/lib/python3"};

    if (str_starts(file, STR("jax/_src/")))
        return PYTHON_JAX;
    for (size_t i = 0; i < COUNT(jax); i++) {
        if (str_contains(file, str_of(jax[i])))
            return PYTHON_JAX;
    }
    for (size_t i = 0; i < COUNT(packages); i++) {
        if (str_contains(file, str_of(packages[i])))
            return PYTHON_PACKAGE;
    }
    return str_starts(file, STR("<")) ? PYTHON_PACKAGE : PYTHON_USER;
}
