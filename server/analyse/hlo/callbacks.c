/* SPDX-License-Identifier: Apache-2.0 */
/* The words by which a custom call or a name is known as a call back into Python. Facts: names
 * that JAX and XLA give to callbacks. */
#include "analyse/hlo/callbacks.h"

static bool has_word(struct str name, struct str word)
{
    bool begins = word.at[0] == '^';
    struct str part = begins ? str_skip(word, 1) : word;

    for (size_t at = 0; at + part.count <= name.count; at++) {
        size_t same = 0;

        while (same < part.count && ascii_lower(name.at[at + same]) == part.at[same])
            same++;
        if (same == part.count)
            return true;
        if (begins)
            return false;
    }
    return false;
}

bool name_has_word(struct str name, const char *const *words)
{
    for (size_t i = 0; words[i] != NULL; i++) {
        if (has_word(name, str_of(words[i])))
            return true;
    }
    return false;
}

bool is_callback_name(struct str name)
{
    static const char *const words[] = {"pure_callback",
                                        "io_callback",
                                        "debug_callback",
                                        "python_cpu_callback",
                                        "python_gpu_callback",
                                        "ffi_python",
                                        "host_callback",
                                        "hcb_",
                                        "^pyfunc",
                                        "^eagerpyfunc",
                                        NULL};

    return name_has_word(name, words);
}
