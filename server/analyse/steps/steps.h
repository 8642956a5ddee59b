/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of a run: which span of the program each is, what it did on the devices, how long it took,
 * and where that time went.
 *
 *   host     |0||1||2|                          spans: calls are made, nobody waits for results
 *   device      |0 work |1 work |2 work |       what the calls launched
 *   time        |   0   |   1   |   2   |       STEP_TIME_WORK: from work to work
 *
 *   host     |0 calls  waits||1 calls  waits|
 *   device      |0 work |      |1 work |
 *   time     |       0      ||      1       |   STEP_TIME_SPAN: the span holds its work
 *
 * A step's work is what its calls launched, wherever it lies: by the launches that the file tells,
 * by arrows, by the order of a program's calls and executions, and where none of these are by time.
 *
 * Steps are recognised by the first rule that finds any, per run:
 *
 *   regex        slices whose names `step_regex` matches, where the question has one
 *   annotation   slices with the arg _r = 1 (StepTraceAnnotation); number = step_num
 *   steps-line   slices of ROLE_STEPS tracks
 *   module       executions of the program with the most device time, when there are two or more
 *   optimizer    from the end of one update of PyTorch's optimizer to the end of the next
 *   repeated     a top-level host slice that repeats and covers most of its thread
 *   none
 *
 * A step's breakdown sums to its duration and is the mean over the host's devices: see
 * analyse/steps/breakdown.h.
 *
 * Warm-up: steps at the beginning that compile, or take more than twice the median of the rest.
 */
#ifndef JVIEWD_ANALYSE_STEPS_STEPS_H
#define JVIEWD_ANALYSE_STEPS_STEPS_H

#include "analyse/steps/breakdown.h"

enum step_time {                 /* what a step's time is */
                 STEP_TIME_SPAN, /* the span that marks it */
                 STEP_TIME_WORK, /* from the begin of its work to that of the next one's */
                 STEP_TIME_LINE, /* as the device recorded it */
                 STEP_TIME_NEXT, /* from the begin of an execution or slice to that of the next */
};
const char *step_time_word(enum step_time rule); /* "span", "work", "steps-line", "next" */

struct step {
    uint32_t host;            /* index into run->hosts */
    int64_t number;           /* step_num, or the ordinal among the host's steps */
    bool numbered;            /* the file said the number */
    struct str name;          /* "train" */
    slice_id slice;           /* NO_SLICE for executions */
    track_id thread;          /* of the slice */
    bool on_device;           /* of one device alone: others' steps lie elsewhere in time */
    int32_t device;           /* then */
    int64_t start_ps, dur_ps; /* run time: the step's time, by `time_rule` */
    enum step_time time_rule;
    int64_t host_start_ps, host_dur_ps; /* the span that marks it; dur -1: none does */
    int64_t work_start_ps, work_end_ps; /* hull of its work on all devices; equal: none is known */
    uint64_t work_count;                /* ops of it */
    uint32_t ordinal;                   /* by which `owners` names it */
    uint32_t ahead;    /* steps up to this one that were not finished when its span ended */
    int64_t apart_ps;  /* work behind it that the loop calls after few steps; not in dur_ps */
    int64_t beside_ps; /* such work that is still in it */
    bool followed;     /* by a call of such work; of the last step it takes no time */
    bool warmup, outlier;
    bool cut;                /* its end is not in the file, or not its last ops */
    bool foreign;            /* a mark of another family: only while steps are found */
    struct device_time time; /* sums to dur_ps; only from steps_breakdown */
};

enum step_rule {
    STEP_ANNOTATION,
    STEP_LINE,
    STEP_REGEX,
    STEP_MODULE,
    STEP_OPTIMIZER,
    STEP_REPEATED,
    STEP_NONE,
};
const char *step_rule_word(enum step_rule rule); /* "annotation" ... "none" */

enum step_trust { TRUST_LOW, TRUST_MEDIUM, TRUST_HIGH };
const char *step_trust_word(enum step_trust trust); /* "low" ... "high" */

struct steps {
    struct step *items; /* by start, then host */
    uint32_t count, warmup_count;
    uint32_t ordinal_count; /* of those found, also where some are left out later */
    uint32_t cut_count;     /* that are no warm-up */
    enum step_rule rule;
    struct str rule_text; /* a sentence: how they were recognised */
    struct str doubt;     /* why none is stated though some were recognised: steps_doubt.h; "" */
    struct str others;    /* what else the program marks, "eval" (24); "": nothing */
    struct str apart;     /* the program that the loop calls after few of them; "": none */
    struct str beside;    /* such a program that is still in their times: it runs while their own
                           * work does, or may be an update; "": none */
    enum step_trust confidence;
    struct str confidence_text;       /* why it is as sure as that */
    struct device_time *const *lanes; /* [step]: its host's devices; NULL: not kept */
    enum step_time time_rule;         /* of most of them */
    uint32_t ahead_max;               /* how many steps the host was ahead at most */
    /* [host][entry of its attribution]: the ordinal of the step whose work it is, NO_OWNER for
     * none; NULL for a host without steps or ops. */
    const uint32_t *const *owners;
    /* [host][device of its attribution]: does it work for steps? One that works for others
     * meanwhile, as an actor beside a learner, is in no mean of them. NULL for a host whose steps
     * no program marks. */
    const bool *const *works;
};

/* Is it a measure of the others? Warm-ups are not, nor what the end of the recording cuts, where
 * any other step is left. */
static inline bool step_counts(const struct steps *steps, const struct step *step)
{
    return (!step->warmup && !step->cut) || steps->warmup_count + steps->cut_count == steps->count;
}

/* All steps of the run's hosts that `restriction` lets through (hosts, window, steps). */
MUST_CHECK enum status steps_find(const struct run_traces *run,
                                  const struct restriction *restriction, struct arena *arena,
                                  struct steps *ret, struct error *err);
/* Leaves of all steps of a run those that `restriction` lets through, as steps_find does; what they
 * own is changed where it stands. */
void steps_keep_asked(const struct run_traces *run, const struct restriction *restriction,
                      struct arena *arena, struct steps *ret);
/* Fills `time` of each. */
void steps_breakdown(const struct run_traces *run, struct steps *steps);
/* The same, and keeps what each lane did where that is little: who walks these steps again then
 * only reads it. */
void steps_keep(const struct run_traces *run, struct steps *steps, struct arena *arena);
/* Fills `time`, and tells what each lane of the step's host did: one device_time for each of the
 * host's devices. Steps come host by host. */
typedef void step_visit(void *data, const struct step *step, const struct host_devices *devices,
                        const struct device_time *lanes);
void steps_walk(const struct run_traces *run, struct steps *steps, step_visit *visit, void *data);
/* What to ask of one host: its steps as windows, the thread that steps, which slices only say
 * when. */
struct breakdown_question *steps_question(const struct host_trace *host, uint32_t index,
                                          const struct steps *steps,
                                          const struct host_devices *devices, struct arena *arena);

/* The host's devices; those count that do the steps' work. */
static inline struct host_devices steps_devices_of(const struct run_traces *run,
                                                   const struct steps *steps, uint32_t host,
                                                   struct arena *arena)
{
    return host_devices_among(&run->hosts[host], steps->works == NULL ? NULL : steps->works[host],
                              arena);
}

enum { LEFT_OUT_NOTES = 5 };
/* Notes of the threads and devices that are too many to be walked, of devices that work for others
 * than steps, of work between steps, and of work that stands before its calls; there is room for
 * all. */
uint32_t steps_left_out(const struct run_traces *run, const struct steps *steps,
                        struct arena *arena, struct answer_note *ret);

/* The median of each host's steps without warm-ups; -1 of fewer than two. */
int64_t *steps_medians(const struct run_traces *run, const struct steps *steps,
                       struct arena *arena);
/* Columns: step name host start_ps end_ps dur_ps rule span_ps work_start_ps work_end_ps ahead
 * delta_ps warmup outlier cut slowest_by
 * slowest_by_ps busy_ps wait_ps hidden_communication_ps breakdown (CELL_KINDS). Default sort:
 * "start_ps". */
MUST_CHECK enum status steps_table(const struct run_traces *run,
                                   const struct restriction *restriction, const struct page *page,
                                   struct arena *arena, struct steps *ret_steps, struct table *ret,
                                   struct error *err);
/* The same of steps that were found. */
MUST_CHECK enum status steps_rows(const struct run_traces *run, struct steps *steps,
                                  const struct page *page, struct arena *arena, struct table *ret,
                                  struct error *err);
/* Columns: step host device start_ps dur_ps in_mean busy_ps wait_ps hidden_communication_ps
 * breakdown. A row a step and device; default sort "start_ps,device". */
MUST_CHECK enum status step_devices_table(const struct run_traces *run,
                                          const struct restriction *restriction,
                                          const struct page *page, struct arena *arena,
                                          struct steps *ret_steps, struct table *ret,
                                          struct error *err);

#endif
