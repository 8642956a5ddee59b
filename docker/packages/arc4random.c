/* SPDX-License-Identifier: Apache-2.0 */
/* Random bytes for the expat that is linked into packages: Debian 12's asks for arc4random_buf,
 * which glibc has since 2.36, and the packages promise 2.34. */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

void arc4random_buf(void *to, size_t count);

void arc4random_buf(void *to, size_t count)
{
    for (size_t done = 0; done < count;) {
        ssize_t got = getrandom((char *)to + done, count - done, 0);

        if (got > 0)
            done += (size_t)got;
        else if (errno != EINTR)
            abort();
    }
}
