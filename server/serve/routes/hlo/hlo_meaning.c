/* SPDX-License-Identifier: Apache-2.0 */
/* What an opcode of HLO does, in one sentence of our own, and where XLA's documentation says more.
 *
 * The document's sections are named as XlaBuilder's calls are, so that all-reduce stands below
 * #allreduce.
 */
#include "serve/routes/hlo/hlo_parts.h"

#define UPSTREAM "https://openxla.org/xla/operation_semantics"

static const struct meaning {
    const char *opcode, *words;
    bool section; /* the document has a section of that name */
} meanings[] = {
    {"add", "Adds two arrays, element by element.", true},
    {"after-all", "Joins tokens, so that side effects keep their order; computes nothing.", true},
    {"all-gather", "Every device receives the parts of all devices of its group, concatenated.",
     true},
    {"all-gather-done", "Waits until an all-gather that was started has arrived.", false},
    {"all-gather-start", "Starts an all-gather and continues without waiting for it.", false},
    {"all-reduce", "Every device receives the sum (or maximum ...) over all devices of its group.",
     true},
    {"all-reduce-done", "Waits until an all-reduce that was started has arrived.", false},
    {"all-reduce-start", "Starts an all-reduce and continues without waiting for it.", false},
    {"all-to-all", "Every device sends a different part of its array to each device of its group.",
     true},
    {"async-done", "Waits for the end of an asynchronous computation.", false},
    {"async-start", "Starts an asynchronous computation.", false},
    {"bitcast", "Views the same bytes with another shape; costs nothing.", false},
    {"bitcast-convert", "Reinterprets the bits of each element as another type.", true},
    {"broadcast", "Repeats an array along new dimensions.", true},
    {"call", "Runs another computation.", true},
    {"cholesky", "Decomposes positive definite matrices into triangular factors.", true},
    {"collective-permute", "Each device sends its array to one other device, by a list of pairs.",
     true},
    {"collective-permute-done", "Waits until a collective-permute that was started has arrived.",
     false},
    {"collective-permute-start",
     "Starts a collective-permute and continues without waiting for it.", false},
    {"compare", "Compares two arrays, element by element.", false},
    {"concatenate", "Concatenates arrays along a dimension.", true},
    {"conditional", "Runs one of several computations, selected by a value.", true},
    {"constant", "An array that is known when the program is compiled.", false},
    {"convert", "Changes the type of each element.", false},
    {"convolution", "Slides a window of weights over an array and sums the products.", false},
    {"copy", "Copies an array, usually to another layout or memory.", false},
    {"copy-done", "Waits until a copy that was started has arrived.", false},
    {"copy-start", "Starts a copy, usually between memories, and continues.", false},
    {"custom-call", "Calls code outside XLA: a library such as cuBLAS, or a user's kernel.", true},
    {"divide", "Divides two arrays, element by element.", false},
    {"domain", "Marks a boundary between parts that are sharded differently.", false},
    {"dot", "Multiplies matrices: sums products over the contracted dimensions.", true},
    {"dynamic-slice", "Extracts a slice of an array at a computed position.", true},
    {"dynamic-update-slice", "Writes a slice into an array at a computed position.", true},
    {"exponential", "e to the power of each element.", false},
    {"fft", "Fourier transform.", true},
    {"fusion",
     "Runs several instructions as one kernel, so that intermediate values stay in registers.",
     false},
    {"gather", "Extracts parts of an array by a list of indices.", true},
    {"get-tuple-element", "Takes one element of a tuple; costs nothing.", true},
    {"infeed", "Waits for data from the host.", true},
    {"iota", "Counts up along a dimension.", true},
    {"log", "Natural logarithm of each element.", false},
    {"map", "Runs a computation on each element.", true},
    {"maximum", "The larger of two elements.", false},
    {"minimum", "The smaller of two elements.", false},
    {"multiply", "Multiplies two arrays, element by element.", false},
    {"outfeed", "Sends data to the host.", true},
    {"pad", "Pads an array at its edges, or between its elements.", true},
    {"parameter", "An argument of the computation.", true},
    {"partition-id", "The number of the partition that runs.", true},
    {"ragged-all-to-all", "An all-to-all whose parts differ in size.", false},
    {"recv", "Waits for data from another program or the host.", true},
    {"recv-done", "Waits until the data to be received has arrived.", false},
    {"reduce", "Sums (or maximum ...) over dimensions.", true},
    {"reduce-scatter", "Sums over the devices of the group; each receives a part of the sum.",
     true},
    {"reduce-window", "Sums (or maximum ...) over a sliding window.", true},
    {"replica-id", "The number of the replica that runs.", true},
    {"reshape", "The same elements in another shape.", true},
    {"reverse", "Reverses the order of elements along dimensions.", true},
    {"rng", "Random numbers.", false},
    {"rng-bit-generator", "Random bits from a state.", true},
    {"rsqrt", "One divided by the square root of each element.", false},
    {"scatter", "Writes parts into an array by a list of indices.", true},
    {"select", "Selects from two arrays, element by element.", true},
    {"select-and-scatter", "Selects an element of each window and scatters values to its position.",
     true},
    {"send", "Sends data to another program or the host.", true},
    {"send-done", "Waits until the data to be sent has left.", false},
    {"slice", "Extracts a slice of an array at a fixed position.", true},
    {"sort", "Sorts along a dimension, by a comparison.", true},
    {"sqrt", "Square root of each element.", false},
    {"subtract", "Subtracts two arrays, element by element.", false},
    {"tanh", "Hyperbolic tangent of each element.", false},
    {"topk", "The largest elements and where they are.", false},
    {"transpose", "Permutes dimensions; usually needs a copy.", true},
    {"triangular-solve", "Solves linear systems with a triangular matrix.", true},
    {"tuple", "Groups arrays into a tuple; costs nothing.", true},
    {"while", "Runs a computation as long as a condition holds.", true},
};

static struct str section_of(struct arena *arena, struct str opcode)
{
    struct str address = str_of(UPSTREAM "#");
    char *text = arena_array(arena, char, address.count + opcode.count + 1);
    size_t count = address.count;

    memcpy(text, address.at, address.count);
    for (size_t i = 0; i < opcode.count; i++) {
        if (opcode.at[i] != '-')
            text[count++] = opcode.at[i];
    }
    return (struct str){.at = text, .count = count};
}

void json_put_meaning(struct json *json, struct arena *arena, struct str opcode)
{
    json_key(json, "meaning");
    for (size_t i = 0; i < COUNT(meanings); i++) {
        if (!str_equal(opcode, str_of(meanings[i].opcode)))
            continue;
        json_open(json, '{');
        json_put_text(json, "words", str_of(meanings[i].words));
        json_put_text(json, "url",
                      meanings[i].section ? section_of(arena, opcode) : str_of(UPSTREAM));
        json_close(json, '}');
        return;
    }
    json_add_null(json);
}
