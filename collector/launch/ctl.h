/* SPDX-License-Identifier: Apache-2.0 */
/* jview-collect ctl start|stop|toggle|status [SESSION|DIR]: the switch of a session that runs. */
#ifndef JVIEWD_LAUNCH_CTL_H
#define JVIEWD_LAUNCH_CTL_H

#include "base/error.h"

MUST_CHECK enum status ctl_run(char **words, struct error *err);

#endif
