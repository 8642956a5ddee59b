/* SPDX-License-Identifier: Apache-2.0 */
/* Pages that are gone when they are read. */
#include "base/lost.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

enum { PAGES = 4, PAGE = 4096 };

struct cut {
    const unsigned char *at;
    struct lost_watch *watch;
    int sum, inner;
};

/* A map of PAGES pages of ones, of which the file keeps the first. */
static struct cut cut_open(void)
{
    char path[] = "/tmp/jview-lost-XXXXXX";
    unsigned char ones[PAGE];
    int fd = mkstemp(path);

    unlink(path);
    memset(ones, 1, sizeof ones);
    for (int i = 0; i < PAGES; i++)
        assert_int_equal(write(fd, ones, sizeof ones), sizeof ones);
    void *at = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
    assert_true(at != MAP_FAILED);
    assert_int_equal(ftruncate(fd, PAGE), 0);
    close(fd);
    return (struct cut){.at = at, .watch = lost_watch(at, PAGES * PAGE)};
}

static void cut_close(struct cut *cut)
{
    lost_unwatch(cut->watch);
    munmap((void *)(uintptr_t)cut->at, PAGES * PAGE);
}

static void read_page(struct cut *cut, int page)
{
    cut->sum += ((const volatile unsigned char *)cut->at)[page * PAGE];
}

static void read_first(void *data)
{
    read_page(data, 0);
}

static void read_all(void *data)
{
    for (int i = 0; i < PAGES; i++)
        read_page(data, i);
}

static void read_inside(void *data)
{
    struct cut *cut = data;

    cut->inner = lost_guard(read_all, cut);
    cut->sum += 100; /* the outer one goes on */
}

static void a_lost_page_is_left(void **state)
{
    struct cut cut = cut_open();

    (void)state;
    lost_prepare();
    assert_true(lost_guard(read_first, &cut));
    assert_false(lost_marked(cut.watch));
    assert_false(lost_guard(read_all, &cut));
    assert_true(lost_marked(cut.watch));
    assert_int_equal(cut.sum, 2); /* the first page twice, of the second nothing */
    assert_true(lost_guard(read_first, &cut));
    cut_close(&cut);
}

static void guards_nest(void **state)
{
    struct cut cut = cut_open();

    (void)state;
    lost_prepare();
    assert_true(lost_guard(read_inside, &cut));
    assert_false(cut.inner);
    assert_int_equal(cut.sum, 101);
    cut_close(&cut);
}

static void a_watch_that_is_free_covers_nothing(void **state)
{
    struct cut first = cut_open();
    struct cut second;

    (void)state;
    lost_prepare();
    cut_close(&first);
    second = cut_open();
    assert_false(lost_marked(second.watch)); /* it may be the first one's */
    assert_false(lost_guard(read_all, &second));
    assert_true(lost_marked(second.watch));
    cut_close(&second);
}

static void *read_on_thread(void *data)
{
    struct cut *cut = data;

    for (int i = 0; i < 1000; i++) {
        int sum = cut->sum;

        cut->inner += !lost_guard(read_all, cut);
        cut->sum = sum;
    }
    return NULL;
}

static void threads_leave_by_themselves(void **state)
{
    struct cut cuts[4];
    pthread_t threads[COUNT(cuts)];

    (void)state;
    lost_prepare();
    for (size_t i = 0; i < COUNT(cuts); i++) {
        cuts[i] = cut_open();
        assert_int_equal(pthread_create(&threads[i], NULL, read_on_thread, &cuts[i]), 0);
    }
    for (size_t i = 0; i < COUNT(cuts); i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(cuts[i].inner, 1000);
        assert_true(lost_marked(cuts[i].watch));
        cut_close(&cuts[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lost_page_is_left),
        cmocka_unit_test(guards_nest),
        cmocka_unit_test(a_watch_that_is_free_covers_nothing),
        cmocka_unit_test(threads_leave_by_themselves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
