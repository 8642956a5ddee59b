/* What was compiled, and what moved. */
#include "analyse/comm/transfers.h"
#include "analyse/compiles/compiles.h"
#include "serve/sql/sql_makers.h"

static const struct restriction whole = {0};

enum status sql_make_compiles(const struct run_traces *run, const struct page *page,
                              struct arena *arena, struct table *ret, struct error *err)
{
    return compiles_table(run, &whole, STR("compile"), page, arena, ret, err);
}

enum status sql_make_transfers(const struct run_traces *run, const struct page *page,
                               struct arena *arena, struct table *ret, struct error *err)
{
    return transfers_table(run, &whole, STR("transfer"), page, arena, ret, err);
}
