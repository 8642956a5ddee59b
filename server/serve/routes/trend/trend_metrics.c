/* SPDX-License-Identifier: Apache-2.0 */
/* A run's metrics as rows: what its record holds, and what was measured of it. */
#include "serve/answer/run_out.h"
#include "serve/routes/trend/trend.h"
#include "store/catalog.h"

static void put_metric(struct json *json, struct str name, enum unit unit, int64_t value)
{
    json_open(json, '{');
    json_put_text(json, "metric", name);
    if (unit == UNIT_SHARE) {
        json_put_real(json, "value", (double)value / METRIC_SHARE_WHOLE);
        json_put_null(json, "value_exact");
    } else {
        json_put_integer(json, "value", value);
        json_put_integer(json, "value_exact", value);
    }
    json_put_text(json, "unit", trend_unit_word(unit));
    json_close(json, '}');
}

void trend_put_metrics(struct json *json, struct request *req, const struct run_record *run)
{
    struct trend_metric metric;
    struct metric_of *measured;
    struct error ignored = {0};
    uint32_t count = 0;

    json_key(json, "metrics");
    json_open(json, '[');
    for (size_t i = 0; run_was_read(run) && trend_metric_at(i, &metric); i++) {
        const char *reason;
        int64_t value;

        if (metric.value != NULL && metric.value(run, &value, &reason))
            put_metric(json, metric.word, metric.unit, value);
    }
    if (run->kept_id.count == 0 ||
        catalog_metrics_of(req->services->catalog, run->kept_id, req->arena, &measured, &count,
                           &ignored) != OK)
        count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct run_metric *one = &measured[i].metric;

        if (one->known && one->name.count > 0)
            put_metric(json, one->name, trend_unit_of(one->unit), one->value);
    }
    json_close(json, ']');
}
