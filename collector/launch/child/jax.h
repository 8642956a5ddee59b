/* SPDX-License-Identifier: Apache-2.0 */
/* What the environment tells JAX, where it was asked for: to keep what XLA compiles, and all of the
 * Python stack that each instruction came from. What the user set stays as it is.
 *
 *   --hlo-dump       XLA_FLAGS   their own flags --xla_dump_to="OUT/hlo-SESSION"
 *                                --xla_dump_hlo_as_proto
 *   --py-locations   JAX_INCLUDE_FULL_TRACEBACKS_IN_LOCATIONS   1
 *                    JAX_TRACEBACK_IN_LOCATIONS_LIMIT           -1, no limit
 */
#ifndef JVIEWD_LAUNCH_JAX_H
#define JVIEWD_LAUNCH_JAX_H

#include "launch/child/session.h"
#include "launch/options/options.h"

/* Of our own process, for the program to inherit. */
MUST_CHECK enum status jax_prepare(const struct options *options, const struct launched *session,
                                   struct error *err);

enum { JAX_PATH_BYTES = 8192 };
/* Where --hlo-dump has XLA dump; "" where nobody asked for it. */
MUST_CHECK enum status jax_dump_directory(const struct options *options,
                                          const struct launched *session, char ret[JAX_PATH_BYTES],
                                          struct error *err);

#endif
