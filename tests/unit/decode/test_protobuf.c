/* SPDX-License-Identifier: Apache-2.0 */
/* Varints and fields of the wire format, at every distance from the end of the bytes. */
#include "check.h"
#include "decode/protobuf.h"

static void varint(void **state)
{
    (void)state;
    const struct {
        const char *what;
        enum status status;
        uint64_t value;
        size_t used;
        struct bytes bytes;
    } rows[] = {
        {"one byte", OK, 1, 1, BYTES("\x01")},
        {"two bytes", OK, 300, 2, BYTES("\xac\x02")},
        {"two bytes, more behind", OK, 300, 2, BYTES("\xac\x02\xff\xff\xff\xff\xff\xff\xff")},
        {"three, eight to read", OK, 0x1fffff, 3, BYTES("\xff\xff\x7f\x01\x01\x01\x01\x01")},
        {"eight bytes", OK, 0x00ffffffffffffff, 8, BYTES("\xff\xff\xff\xff\xff\xff\xff\x7f")},
        {"eight bytes, the lowest bit of each", OK, 0x0002040810204081, 8,
         BYTES("\x81\x81\x81\x81\x81\x81\x81\x01")},
        {"nine bytes", OK, 0x7fffffffffffffff, 9, BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\x7f")},
        {"minus one", OK, UINT64_MAX, 10, BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")},
        {"a zero in three bytes", OK, 0, 3, BYTES("\x80\x80\x00")},
        {"nothing", ERR_TRUNCATED, 0, 0, BYTES("")},
        {"cut in the middle", ERR_TRUNCATED, 0, 0, BYTES("\x80")},
        {"cut after eight", ERR_TRUNCATED, 0, 0, BYTES("\x80\x80\x80\x80\x80\x80\x80\x80")},
        {"eleven bytes", ERR_FORMAT, 0, 0, BYTES("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01")},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct error err = {0};
        struct pb pb = pb_open(rows[i].bytes, &err);

        CHECK_INT(rows[i].what, pb_varint(&pb), rows[i].value);
        CHECK_INT(rows[i].what, err.code, rows[i].status);
        CHECK_INT(rows[i].what, pb.at - rows[i].bytes.at, rows[i].used);
    }
}

/* Every value of one bit and its neighbours, at every distance from the end of the bytes. */
static void varint_round_trip(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 64; bit++) {
        for (int delta = -1; delta <= 1; delta++) {
            uint64_t value = (UINT64_C(1) << bit) + (uint64_t)delta, rest = value;
            uint8_t packed[24];
            size_t size = 0;
            for (; rest >= 0x80; rest >>= 7)
                packed[size++] = (uint8_t)(rest | 0x80);
            packed[size++] = (uint8_t)rest;
            for (size_t behind = 0; behind <= 8; behind++) {
                struct error err = {0};
                memset(packed + size, 0xff, behind);
                struct pb pb = pb_open((struct bytes){packed, size + behind}, &err);
                CHECK("value", pb_varint(&pb) == value);
                CHECK_INT("size", pb.at - packed, size);
            }
        }
    }
}

static void fields(void **state)
{
    (void)state;
    const struct {
        const char *what;
        enum status status;
        int count; /* fields yielded */
        struct bytes bytes;
        const char *message;
    } rows[] = {
        {"empty", OK, 0, BYTES(""), ""},
        {"varint", OK, 1, BYTES("\x08\x05"), ""},
        {"all wires", OK, 4, BYTES("\x08\x05\x11________\x1a\x02hi\x25____"), ""},
        {"number of two bytes", OK, 1, BYTES("\xa0\x06\x07"), ""},
        {"number zero", ERR_FORMAT, 1, BYTES("\x08\x05\x00\x01"),
         "bytes at 2 are not a message field"},
        {"number too high", ERR_FORMAT, 0, BYTES("\x80\x80\x80\x80\x10\x01"),
         "not a message field"},
        {"a group", ERR_FORMAT, 0, BYTES("\x0b\x0c"), "wire type 3"},
        {"wire seven", ERR_FORMAT, 0, BYTES("\x0f"), "field 1 at byte 0 has the unknown"},
        {"bytes cut", ERR_TRUNCATED, 0, BYTES("\x0a\x05hi"),
         "field 1 at byte 0 says it has 5 bytes, and only 2 follow"},
        {"second cut", ERR_TRUNCATED, 1, BYTES("\x08\x05\x22\x03hi"), "field 4 at byte 2"},
        {"a length of 2^64 - 1", ERR_TRUNCATED, 0,
         BYTES("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "18446744073709551615 bytes"},
        {"no length", ERR_TRUNCATED, 0, BYTES("\x0a"), "the number at byte 1 is truncated"},
        {"eight bytes cut", ERR_TRUNCATED, 0, BYTES("\x09_______"), "byte 1 is truncated"},
        {"four bytes cut", ERR_TRUNCATED, 0, BYTES("\x0d___"), "byte 1 is truncated"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct error err = {0};
        struct pb pb = pb_open(rows[i].bytes, &err);
        int count = 0;

        for (struct pb_field field; pb_next(&pb, &field);)
            count++;
        CHECK_INT(rows[i].what, count, rows[i].count);
        CHECK_INT(rows[i].what, err.code, rows[i].status);
        CHECK_HAS(rows[i].what, err.message, rows[i].message);
    }
}

static void values(void **state)
{
    (void)state;
    struct error err = {0};
    struct pb pb = pb_open(BYTES("\x08\x05\x11\x01\x02\x03\x04\x05\x06\x07\x88\x1a\x02hi"
                                 "\x25\x01\x02\x03\x84"),
                           &err);
    struct pb_field field;

    CHECK("varint", pb_next(&pb, &field));
    CHECK_INT("varint", field.number, 1);
    CHECK_INT("varint", field.varint, 5);
    CHECK("eight bytes", pb_next(&pb, &field));
    CHECK("eight bytes", field.varint == 0x8807060504030201);
    CHECK("text", pb_next(&pb, &field));
    CHECK_STR("text", pb_text(&field), "hi");
    CHECK("four bytes", pb_next(&pb, &field));
    CHECK("four bytes", field.varint == 0x84030201);
    CHECK_INT("four bytes", field.number, 4);
    CHECK("end", !pb_next(&pb, &field));
    CHECK_INT("end", err.code, OK);
}

static void lenient(void **state)
{
    (void)state;
    struct error err = {0}, inner_err = {0};
    struct pb pb = pb_open(BYTES("\x08\x05\x22\x09\x0a\x02hi\x0a"), &err);
    struct pb_field field = {0};

    pb.lenient = true;
    CHECK("whole field", pb_next(&pb, &field) && !field.cut);
    CHECK("cut field", pb_next(&pb, &field) && field.cut);
    CHECK_INT("what is left", field.bytes.count, 5);
    CHECK_INT("cut field", err.code, ERR_TRUNCATED);

    struct pb inner = pb_inside(&pb, field.bytes, &inner_err);
    CHECK("inner field", pb_next(&inner, &field) && !field.cut);
    CHECK_STR("inner field", pb_text(&field), "hi");
    CHECK("inner end", !pb_next(&inner, &field));
    CHECK_HAS("positions count from the file", inner_err.message, "byte 9");
    CHECK("sticky", !pb_next(&pb, &field));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(varint), cmocka_unit_test(varint_round_trip), cmocka_unit_test(fields),
        cmocka_unit_test(values), cmocka_unit_test(lenient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
