/* SPDX-License-Identifier: Apache-2.0 */
/* api/openapi.yaml, carried by the program; server/CMakeLists.txt generates the bytes. */
#ifndef JVIEWD_SERVE_ROUTES_OPENAPI_H
#define JVIEWD_SERVE_ROUTES_OPENAPI_H

#include "base/bytes.h"

extern const unsigned char openapi_yaml[];
extern const size_t openapi_yaml_count;

#endif
