/* Every theme of rules, one line each. Their order is the last word where two findings rank alike.
 */
#include "analyse/findings.h"

extern const struct rule rules_capture[];

/* clang-format off */
const struct rule *const rule_themes[] = {
    rules_capture,
};
/* clang-format on */
const uint32_t rule_theme_count = COUNT(rule_themes);
