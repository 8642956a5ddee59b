/* SPDX-License-Identifier: Apache-2.0 */
/* The samplers of a build without them (JVIEWD_SAMPLERS=OFF): options refuse to ask for any. This
 * file stands in for all others of its folder. */
#include "launch/sample/sampling.h"

const bool sampling_is_built = false;

void sampling_prepare(const struct sampling *asked)
{
    (void)asked;
}

void sampling_await(void)
{
}

void sampling_begin(const struct sampling *asked, const struct control *control,
                    const char *directory)
{
    (void)asked;
    (void)control;
    (void)directory;
}

void sampling_start(const struct sampling *asked, const struct control *control)
{
    (void)asked;
    (void)control;
}

void sampling_stop(void)
{
}

bool sampling_found_no_python(void)
{
    return false;
}
