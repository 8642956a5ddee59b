/* Memory of the process as a whole. */
#ifndef JVIEWD_BASE_MEMORY_H
#define JVIEWD_BASE_MEMORY_H

/* What was freed goes back to the system: left alone, an allocator keeps it for the thread that
 * freed it. */
void memory_give_back(void);

#endif
