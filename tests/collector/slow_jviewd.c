/* SPDX-License-Identifier: Apache-2.0 */
/* Stands where jviewd would: does nothing for long, or, where $SLOW_JVIEWD_FAILS, fails with two
 * lines. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    if (getenv("SLOW_JVIEWD_FAILS") == NULL) {
        sleep(1000);
        return 0;
    }
    fputs("first\njviewd: no room\n", stderr);
    return 4;
}
