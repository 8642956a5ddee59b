/* SPDX-License-Identifier: Apache-2.0 */
/* The words by which a custom call or a name is known as a call back into Python. Facts: names
 * that JAX and XLA give to callbacks. */
#include "analyse/hlo/callbacks.h"

/* A word that begins with "^" stands at the name's beginning. */
static bool has_word(struct str name, struct str word)
{
    if (word.at[0] != '^')
        return str_contains_fold(name, word);
    word = str_skip(word, 1);
    return name.count >= word.count &&
           str_equal_fold((struct str){.at = name.at, .count = word.count}, word);
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
