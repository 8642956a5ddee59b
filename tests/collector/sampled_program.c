/* SPDX-License-Identifier: Apache-2.0 */
/* A program of which it is known where it spends its time: most of it in spends_most, some in
 * spends_some. */
#include <stdio.h>
#include <stdlib.h>

static volatile unsigned long sink;

__attribute__((noinline)) static void turn(long count)
{
    for (long index = 0; index < count; index++)
        sink += (unsigned long)index;
}

__attribute__((noinline)) static void spends_most(void)
{
    turn(9000000);
    sink++; /* behind the call, so that it is one */
}

__attribute__((noinline)) static void spends_some(void)
{
    turn(3000000);
    sink++;
}

int main(int count, char **words)
{
    for (int round = count > 1 ? atoi(words[1]) : 1; round > 0; round--) {
        spends_most();
        spends_some();
    }
    puts("done");
    return 0;
}
