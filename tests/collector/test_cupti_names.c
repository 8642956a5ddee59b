/* SPDX-License-Identifier: Apache-2.0 */
/* Names of kernels: CUPTI may put another at a place where one was, once its module is gone. */
#include "inject/cupti/cupti_names.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "inject/cupti/cupti.h"
#include "inject/process/texts.h"

/* Calls' names are CUPTI's to tell; none is asked for here. */
const struct cupti *cupti_library(void)
{
    return NULL;
}

static const char *told(const char *name)
{
    size_t count;
    const char *text = NULL;

    return text_at(cupti_name(name), &text, &count) ? text : "";
}

static void another_at_the_place(void **state)
{
    char place[32] = "matmul";

    (void)state;
    uint32_t first = cupti_name(place);
    assert_int_equal(cupti_name(place), first);
    strcpy(place, "matmul_2"); /* begins as the one before */
    assert_string_equal(told(place), "matmul_2");
    strcpy(place, "mat");
    assert_string_equal(told(place), "mat");
    strcpy(place, "matmul");
    assert_int_equal(cupti_name(place), first);
}

static void as_in_the_source(void **state)
{
    (void)state;
    const struct {
        const char *name, *shown;
    } rows[] = {
        {"_Z3addi", "add(int)"},
        {"_Z6matmulIfEvPKT_S2_PS0_i",
         "void matmul<float>(float const*, float const*, float*, int)"},
        {"_ZN7cutlass6KernelIfE3runEv", "cutlass::Kernel<float>::run()"},
        {"_Zzz", "_Zzz"},
        {"_Z", "_Z"},
        {"loop_add_fusion_3", "loop_add_fusion_3"},
    };

    for (int again = 0; again < 2; again++)
        for (size_t index = 0; index < COUNT(rows); index++)
            assert_string_equal(told(rows[index].name), rows[index].shown);
}

static void none(void **state)
{
    (void)state;
    assert_int_equal(cupti_name(NULL), 0);
    assert_int_equal(cupti_name((const char *)(uintptr_t)0x10), 0);
}

/* Behind all others: from here on no text gets an id. */
static void full(void **state)
{
    char text[32];

    (void)state;
    assert_int_not_equal(text_id("_Z3subi", 7), 0);
    for (uint32_t number = 0, id = 1; id != 0; number++)
        id = text_id(text, (size_t)snprintf(text, sizeof text, "%u", number));
    for (int again = 0; again < 2; again++) {
        assert_int_equal(cupti_name("never_seen"), 0);
        assert_string_equal(told("_Z3subi"), "_Z3subi");
        assert_string_equal(told("_Z3addi"), "add(int)");
    }
}

static int open_texts(void **state)
{
    (void)state;
    return texts_open() ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(another_at_the_place),
                                       cmocka_unit_test(as_in_the_source), cmocka_unit_test(none),
                                       cmocka_unit_test(full)};

    return cmocka_run_group_tests(tests, open_texts, NULL);
}
