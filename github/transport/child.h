/* Running a program to its end, or to its deadline.
 *
 * The child leads a process group of its own, which is killed whole: when the deadline has passed,
 * when the caller is asked to stop, and when its leader has ended before its helpers. It reads
 * nothing, inherits no descriptor and no environment but the one given. Any thread may call; the
 * caller waits. */
#ifndef BENCHLEDGER_GITHUB_TRANSPORT_CHILD_H
#define BENCHLEDGER_GITHUB_TRANSPORT_CHILD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "github/error.h"
#include "validator/buffer.h"

struct child {
    const char *const *arguments;   /* the first one is looked up in PATH; NULL-terminated */
    const char *const *environment; /* NAME=VALUE; NULL-terminated */
    int64_t timeout_ms;
    const atomic_bool *stop; /* asked every 50 ms; NULL: nobody stops us */
    size_t output_most;      /* bytes that are kept of each stream; the rest is read and dropped */
};

enum child_end {
    CHILD_EXITED, /* with STATUS */
    CHILD_KILLED, /* by the signal STATUS that was not ours */
    CHILD_LATE,   /* by us: the deadline had passed */
    CHILD_STOPPED /* by us: asked to */
};

struct child_result {
    enum child_end end;
    int status;
    int64_t took_ms;
    struct buffer out, err;
};
/* False when the program cannot be started. */
bool child_run(const struct child *child, struct child_result *result, struct store_error *error);
void child_result_free(struct child_result *result);
#define CHILD_RESULT_SCOPE __attribute__((cleanup(child_result_free)))

#endif
