/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts that let a shell complete a command line. They ask `jviewd complete`, which knows the
 * verbs, their flags, the words of a flag, and the runs (app/complete.h). */
#include <stdio.h>

#include "cli/verbs.h"

/* bash takes "=" and ":" for ends of words; here they are letters. */
static const char bash[] =
    "_jviewd() {\n"
    "    local word= piece glued= before candidate\n"
    "    local -a words=()\n"
    "    for piece in \"${COMP_WORDS[@]:1:COMP_CWORD}\"; do\n"
    "        if [[ ${#words[@]} -gt 0 && ( -n $glued || $piece == [:=]* ) ]]; then\n"
    "            words[-1]+=$piece\n"
    "        else\n"
    "            words+=(\"$piece\")\n"
    "        fi\n"
    "        glued=\n"
    "        [[ $piece == [:=] ]] && glued=yes\n"
    "    done\n"
    "    word=${words[-1]}\n"
    "    before=${word%\"${word##*[:=]}\"}\n"
    "    COMPREPLY=()\n"
    "    while IFS=$'\\t' read -r candidate _; do\n"
    "        if [[ $candidate == / ]]; then\n"
    "            compopt -o filenames 2>/dev/null\n"
    "            while read -r candidate; do\n"
    "                COMPREPLY+=(\"$candidate\")\n"
    "            done < <(compgen -f -- \"${word#\"$before\"}\")\n"
    "        else\n"
    "            COMPREPLY+=(\"${candidate#\"$before\"}\")\n"
    "        fi\n"
    "    done < <(\"${COMP_WORDS[0]}\" complete \"${words[@]}\" 2>/dev/null)\n"
    "}\n"
    "complete -F _jviewd jviewd\n";

static const char zsh[] =
    "#compdef jviewd\n"
    "_jviewd() {\n"
    "    local line files=0\n"
    "    local -a told\n"
    "    for line in \"${(@f)$(\"${(Q)words[1]}\" complete \"${(@Q)words[2,CURRENT-1]}\" "
    "\"${(Q)PREFIX}\" 2>/dev/null)}\"; do\n"
    "        case $line in\n"
    "        '') ;;\n"
    "        /) files=1 ;;\n"
    "        *$'\\t'*) told+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\") ;;\n"
    "        *) told+=(\"${line//:/\\\\:}\") ;;\n"
    "        esac\n"
    "    done\n"
    "    (( $#told )) && _describe jviewd told\n"
    "    (( files )) && { compset -P '--*='; _files }\n"
    "}\n"
    "if [[ $funcstack[1] == _jviewd ]]; then _jviewd \"$@\"; else compdef _jviewd jviewd; fi\n";

static const char fish[] =
    "function __jviewd_complete\n"
    "    set -l before (commandline -opc)\n"
    "    set -l word (commandline -ct)\n"
    "    for line in (command $before[1] complete $before[2..-1] \"$word\" 2>/dev/null)\n"
    "        if test \"$line\" = /\n"
    "            __fish_complete_path \"$word\"\n"
    "        else\n"
    "            printf '%s\\n' $line\n"
    "        end\n"
    "    end\n"
    "end\n"
    "complete -c jviewd -f -a '(__jviewd_complete)'\n";

int cli_completion(const char *shell)
{
    static const struct {
        const char *name, *script;
    } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};

    for (size_t i = 0; i < COUNT(shells); i++) {
        if (strcmp(shells[i].name, shell) == 0) {
            fputs(shells[i].script, stdout);
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
