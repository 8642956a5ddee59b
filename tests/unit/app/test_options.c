/* SPDX-License-Identifier: Apache-2.0 */
/* Options: every place that may set one, and which of them holds. */
#include "app/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

enum { ARGUMENTS_MAX = 8 };

static struct arena *arena;
static char config[64];

static int set_up(void **state)
{
    (void)state;
    int fd;

    arena = arena_create();
    snprintf(config, sizeof config, "/tmp/jview-config-XXXXXX");
    assert_true((fd = mkstemp(config)) >= 0);
    close(fd);
    setenv("JVIEWD_CONFIG", config, 1);
    return 0;
}

static int tear_down(void **state)
{
    static const char *const names[] = {"JVIEWD_CONFIG", "JVIEWD_PORT",     "JVIEWD_PROFILE_DIR",
                                        "JVIEWD_OPEN",   "XAX_PROFILE_DIR", "PROFILE_DIR"};
    (void)state;

    for (size_t i = 0; i < COUNT(names); i++)
        unsetenv(names[i]);
    unlink(config);
    arena_destroy(arena);
    return 0;
}

static void write_config(const char *text)
{
    FILE *file = fopen(config, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static enum status read_all(const char *const arguments[ARGUMENTS_MAX], struct options *ret,
                            struct error *err)
{
    char *argv[ARGUMENTS_MAX + 1] = {str_c(arena, STR("serve"))};
    int argc = 1;

    while (argc <= ARGUMENTS_MAX && arguments[argc - 1] != NULL) {
        argv[argc] = str_c(arena, str_of(arguments[argc - 1]));
        argc++;
    }
    return options_read(argc, argv, arena, ret, err);
}

static void the_strongest_place_holds(void **state)
{
    (void)state;
    const struct {
        const char *what, *config, *environment, *flag;
        int port;
    } rows[] = {
        {"nothing said", "", NULL, NULL, 8080},
        {"config file", "# mine\n\n port = 1001 \n", NULL, NULL, 1001},
        {"environment beats it", "port=1001", "1002", NULL, 1002},
        {"a flag beats both", "port=1001\n", "1002", "--port=1003", 1003},
        {"0 is any free port", "port=1001\n", NULL, "--port=0", 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct error err = {0};
        struct options options;

        write_config(rows[i].config);
        if (rows[i].environment != NULL)
            setenv("JVIEWD_PORT", rows[i].environment, 1);
        else
            unsetenv("JVIEWD_PORT");
        CHECK_OK(rows[i].what,
                 read_all((const char *[ARGUMENTS_MAX]){rows[i].flag}, &options, &err), &err);
        CHECK_INT(rows[i].what, options.port, rows[i].port);
    }
}

static void lists_are_replaced_as_a_whole(void **state)
{
    (void)state;
    struct error err = {0};
    struct options options;

    write_config("profile-dir = /from/config\nprofile-dir = /and/more\nallowed-host = a\n");
    CHECK_OK("config", read_all((const char *[ARGUMENTS_MAX]){NULL}, &options, &err), &err);
    CHECK_INT("two roots", options.roots.count, 2);
    CHECK_STR("second", options.roots.at[1], "/and/more");
    CHECK_OK("flags",
             read_all((const char *[ARGUMENTS_MAX]){"one", "--logdir", "two", "--", "-three"},
                      &options, &err),
             &err);
    CHECK_INT("three roots", options.roots.count, 3);
    CHECK_STR("a path", options.roots.at[0], "one");
    CHECK_STR("another program's flag", options.roots.at[1], "two");
    CHECK_STR("after --", options.roots.at[2], "-three");
    CHECK_INT("what the flags leave alone stays", options.allowed_hosts.count, 1);
    setenv("JVIEWD_PROFILE_DIR", "/from/environment", 1);
    CHECK_OK("environment", read_all((const char *[ARGUMENTS_MAX]){NULL}, &options, &err), &err);
    CHECK_INT("it replaces the config file", options.roots.count, 1);
    CHECK_OK("flag", read_all((const char *[ARGUMENTS_MAX]){"one"}, &options, &err), &err);
    CHECK_INT("and is replaced", options.roots.count, 1);
    CHECK_STR("by the flag", options.roots.at[0], "one");
}

static void flags(void **state)
{
    (void)state;
    struct error err = {0};
    struct options options;

    CHECK_OK(
        "all",
        read_all((const char *[ARGUMENTS_MAX]){"--port", "auto", "--bind_all", "--open",
                                               "--cache-size=3M", "-o", "out", "--follow_symlinks"},
                 &options, &err),
        &err);
    CHECK_INT("auto", options.port, 8080);
    CHECK("auto tries others", options.port_tries > 1);
    CHECK_STR("bind_all", str_of(options.bind), "0.0.0.0");
    CHECK("open", options.open && options.follow_symlinks && !options.help);
    CHECK_INT("size", options.cache_bytes_max, 3 << 20);
    CHECK_STR("-o", str_of(options.output), "out");
}

static void what_is_refused(void **state)
{
    (void)state;
    const struct {
        const char *what, *config, *flags[2], *says;
    } rows[] = {
        {"unknown flag", "", {"--prot", NULL}, "there is no flag --prot; the nearest is --port,"},
        {"with its value", "", {"--prot=8080", NULL}, "--port"},
        {"two letters off", "", {"--cahce-dir", "x"}, "--cache-dir"},
        {"another program's", "", {"--log_dir", "x"}, "--logdir"},
        {"no value", "", {"--port", NULL}, "needs a value"},
        {"no port", "", {"--port", "http"}, "8080|auto|0"},
        {"too large a port", "", {"--port", "65536"}, "65536"},
        {"no size", "", {"--cache-size", "big"}, "cache-size"},
        {"no unit",
         "",
         {"--memory-max", "3x"},
         "\"3x\": a size is a whole number of bytes, or a number with K, M, G or T"},
        {"half a unit", "", {"--memory-max", "1.5G"}, "whole number"},
        {"a size past 64 bit", "", {"--cache-size", "99999999999G"}, "cache-size"},
        {"no such word", "", {"--auth", "maybe"}, "none|token"},
        {"empty path", "", {"--profile-dir", ""}, "profile-dir"},
        {"unknown in config", "colour = red", {NULL, NULL}, "colour"},
        {"mistyped in config", "prot = 1", {NULL, NULL}, "the nearest is \"port\""},
        {"no config file", "", {"--config", "/nonexistent/c"}, "/nonexistent/c"},
        {"--config alone", "", {"--config", NULL}, "FILE"},
        {"no workers", "", {"--workers", "0"}, "from 1 to 1024"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct error err = {0};
        struct options options;

        write_config(rows[i].config);
        CHECK(rows[i].what,
              read_all((const char *[ARGUMENTS_MAX]){rows[i].flags[0], rows[i].flags[1]}, &options,
                       &err) != OK);
        CHECK_HAS(rows[i].what, err.message, rows[i].says);
    }
}

static void the_usual_directories(void **state)
{
    (void)state;
    struct error err = {0};
    struct options options;

    setenv("PROFILE_DIR", "/b", 1);
    CHECK_OK("second", read_all((const char *[ARGUMENTS_MAX]){NULL}, &options, &err), &err);
    CHECK_STR("PROFILE_DIR", options.roots.at[0], "/b");
    CHECK_STR("is said", str_of(options.root_rule), "$PROFILE_DIR names it");
    setenv("XAX_PROFILE_DIR", "/a", 1);
    CHECK_OK("first", read_all((const char *[ARGUMENTS_MAX]){NULL}, &options, &err), &err);
    CHECK_STR("XAX_PROFILE_DIR", options.roots.at[0], "/a");
    CHECK_OK("named", read_all((const char *[ARGUMENTS_MAX]){"/c"}, &options, &err), &err);
    CHECK_STR("a path beats both", options.roots.at[0], "/c");
    CHECK("needs no rule", options.root_rule == NULL);
}

int main(void)
{
#define SET_UP(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        SET_UP(the_strongest_place_holds), SET_UP(lists_are_replaced_as_a_whole), SET_UP(flags),
        SET_UP(what_is_refused),           SET_UP(the_usual_directories),
    };

    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
