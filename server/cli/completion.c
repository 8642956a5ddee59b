/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts that complete verbs, flags and words, made from the verbs and their endpoints. */
#include <stdio.h>

#include "cli/parameters.h"
#include "cli/verbs.h"

static const char *const serve_flags =
    "--profile-dir --logdir --port --bind --host --bind_all --cache-dir --index-store --data-dir "
    "--base-path "
    "--public-url "
    "--open --ui "
    "--list-only --extract --auth --allowed-host --source-root --follow-symlinks --convert "
    "--perfetto-cors --upload-max --upload-quota --embed-origin "
    "--config "
    "--version --help";

static void put_flags(const struct verb *verb)
{
    for (const struct verb_action *action = verb->actions; action != NULL && action->name != NULL;
         action++)
        printf("%s ", action->name);
    for (const struct param *param = parameters_of(verb); param != NULL && param->name != NULL;
         param++) {
        char flag[64];

        if (!parameter_is_flag(verb, param))
            continue;
        parameter_flag(param, flag, sizeof flag);
        printf("%s ", flag);
    }
    if (verb->own_flag != NULL)
        printf("--%s ", verb->own_flag);
    fputs("--profile-dir --cache-dir --index-store --data-dir --follow-symlinks --wide --format "
          "--output --help",
          stdout);
}

static void put_bash(void)
{
    const struct verb *verb;

    fputs("_jviewd() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} words=\n"
          "    case ${COMP_WORDS[1]} in\n",
          stdout);
    for (uint32_t i = 0; (verb = cli_verb_at(i)) != NULL; i++) {
        printf("    %s) words=\"", verb->name);
        put_flags(verb);
        fputs("\" ;;\n", stdout);
    }
    fputs("    collect) words=\"ctl finalize --output --trace --delay --duration --capture-range "
          "--capture-range-end --nvtx-capture --nvtx-domain-include --nvtx-domain-exclude --if "
          "--max-spool --flush-interval --wait --replace-injection --py-sample --sample "
          "--sampling-frequency --cuda-graph-trace --system --finalize --hlo-dump --py-locations "
          "--kill --env-var --quiet --help\" ;;\n",
          stdout);
    printf("    *) words=\"serve index open doctor prune export plan fleet collect");
    for (uint32_t i = 0; (verb = cli_verb_at(i)) != NULL; i++)
        printf(" %s", verb->name);
    printf(" %s\" ;;\n    esac\n", serve_flags);
    fputs("    COMPREPLY=($(compgen -W \"$words\" -- \"$word\") $(compgen -f -- \"$word\"))\n"
          "}\n"
          "complete -o filenames -F _jviewd jviewd\n",
          stdout);
}

static void put_zsh(void)
{
    fputs("#compdef jviewd\nautoload -U +X bashcompinit && bashcompinit\n", stdout);
    put_bash();
}

static void put_fish(void)
{
    const struct verb *verb;

    fputs("complete -c jviewd -n __fish_use_subcommand -a collect -d 'runs a program and records "
          "it'\ncomplete -c jviewd -n '__fish_seen_subcommand_from collect' -a 'ctl finalize'\n",
          stdout);
    for (uint32_t i = 0; (verb = cli_verb_at(i)) != NULL; i++) {
        printf("complete -c jviewd -n __fish_use_subcommand -a %s -d '%s'\n", verb->name,
               verb->summary);
        for (const struct param *param = parameters_of(verb); param != NULL && param->name != NULL;
             param++) {
            char flag[64];

            if (!parameter_is_flag(verb, param))
                continue;
            parameter_flag(param, flag, sizeof flag);
            printf("complete -c jviewd -n '__fish_seen_subcommand_from %s' -r -l %s\n", verb->name,
                   flag + 2);
        }
        for (const struct verb_action *action = verb->actions;
             action != NULL && action->name != NULL; action++)
            printf("complete -c jviewd -n '__fish_seen_subcommand_from %s' -a %s\n", verb->name,
                   action->name);
        if (verb->own_flag != NULL)
            printf("complete -c jviewd -n '__fish_seen_subcommand_from %s' -r -l %s\n", verb->name,
                   verb->own_flag);
    }
}

int cli_completion(const char *shell)
{
    static const struct {
        const char *name;
        void (*put)(void);
    } shells[] = {{"bash", put_bash}, {"zsh", put_zsh}, {"fish", put_fish}};

    for (size_t i = 0; i < COUNT(shells); i++) {
        if (strcmp(shells[i].name, shell) == 0) {
            shells[i].put();
            return fflush(stdout) == 0 ? EXIT_OK : EXIT_IO;
        }
    }
    fprintf(stderr, "jviewd: completion is for bash, zsh or fish, not for \"%s\"\n", shell);
    return EXIT_USAGE;
}

int print_completion(const struct cli_call *call, const struct services *services)
{
    (void)services;
    return cli_completion(str_c(call->arena, call->run));
}
