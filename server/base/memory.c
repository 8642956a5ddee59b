/* Gives freed memory back to the system (malloc_trim). */
#include "base/memory.h"

#include <malloc.h>

void memory_give_back(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
