/* SPDX-License-Identifier: Apache-2.0 */
/* A service manager that waits to hear when we serve (systemd, Type=notify). */
#ifndef JVIEWD_APP_NOTIFY_H
#define JVIEWD_APP_NOTIFY_H

/* "READY=1" or "STOPPING=1", lines by \n; nothing where nobody listens. */
void notify_tell(const char *state);

#endif
