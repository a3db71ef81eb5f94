#include "github/transport/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TICK_MS = 50, BLOCK = 16384 };

/* A pipe's reading end, and what is kept of it. */
struct stream {
    int fd; /* -1: at its end */
    struct buffer *kept;
    size_t most;
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void child_result_free(struct child_result *result)
{
    buffer_free(&result->out);
    buffer_free(&result->err);
}

static void close_pipe(int ends[2])
{
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
}

/* The service's threads block the signals that end it; a child shall not. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, usual;
    sigemptyset(&none);
    sigfillset(&usual);
    int failed = posix_spawnattr_setsigmask(attributes, &none);
    if (!failed)
        failed = posix_spawnattr_setsigdefault(attributes, &usual);
    if (!failed)
        failed = posix_spawnattr_setpgroup(attributes, 0);
    if (!failed)
        failed = posix_spawnattr_setflags(
            attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    return failed;
}

static int set_streams(posix_spawn_file_actions_t *actions, int out, int err)
{
    int failed = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(actions, out, 1);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(actions, err, 2);
    return failed;
}

/* errno-like; all descriptors of ours close on exec. */
static int spawn(const struct child *child, int out, int err, pid_t *pid)
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&actions);
    int failed = set_attributes(&attributes);
    if (!failed)
        failed = set_streams(&actions, out, err);
    if (!failed)
        failed = posix_spawnp(pid, child->arguments[0], &actions, &attributes,
                              (char *const *)(uintptr_t)child->arguments,
                              (char *const *)(uintptr_t)child->environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return failed;
}

static void read_stream(struct stream *stream)
{
    char block[BLOCK];
    ssize_t got = read(stream->fd, block, sizeof block);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (got <= 0) {
        close(stream->fd);
        stream->fd = -1;
        return;
    }
    size_t room = stream->most > stream->kept->size ? stream->most - stream->kept->size : 0;
    buffer_add(stream->kept, block, (size_t)got < room ? (size_t)got : room);
}

/* Reads what is there, for a tick at most. False when nothing was. */
static bool read_streams(struct stream streams[2], int wait_ms)
{
    struct pollfd polls[2] = {{.fd = streams[0].fd, .events = POLLIN},
                              {.fd = streams[1].fd, .events = POLLIN}};
    if (poll(polls, 2, wait_ms) <= 0)
        return false;
    for (int i = 0; i < 2; i++)
        if (streams[i].fd >= 0 && polls[i].revents)
            read_stream(&streams[i]);
    return true;
}

/* Whether the leader has ended; it is not reaped yet, so that its group's number is still ours. */
static bool has_ended(pid_t pid)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid;
}

static enum child_end watch(const struct child *child, pid_t pid, struct stream streams[2])
{
    int64_t deadline = now_ms() + child->timeout_ms;
    while (!has_ended(pid)) {
        if (child->stop && atomic_load(child->stop))
            return CHILD_STOPPED;
        if (now_ms() >= deadline)
            return CHILD_LATE;
        read_streams(streams, streams[0].fd < 0 && streams[1].fd < 0 ? TICK_MS / 10 : TICK_MS);
    }
    return CHILD_EXITED;
}

static void reap(pid_t pid, struct child_result *result)
{
    int status = 0;
    kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (result->end != CHILD_EXITED)
        return;
    result->end = WIFSIGNALED(status) ? CHILD_KILLED : CHILD_EXITED;
    result->status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

bool child_run(const struct child *child, struct child_result *result, struct store_error *error)
{
    int out[2] = {-1, -1}, err[2] = {-1, -1};
    pid_t pid = -1;
    *result = (struct child_result){0};
    int64_t start = now_ms();
    int failed = pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC) ? errno : 0;
    if (!failed)
        failed = spawn(child, out[1], err[1], &pid);
    if (failed) {
        close_pipe(out);
        close_pipe(err);
        errno = failed;
        return error_system(error, "cannot run %s", child->arguments[0]);
    }
    close(out[1]);
    close(err[1]);
    struct stream streams[2] = {{out[0], &result->out, child->output_most},
                                {err[0], &result->err, child->output_most}};
    result->end = watch(child, pid, streams);
    reap(pid, result);
    /* The group is gone: what the pipes still hold is all there will be. */
    while ((streams[0].fd >= 0 || streams[1].fd >= 0) && read_streams(streams, 0))
        continue;
    for (int i = 0; i < 2; i++)
        if (streams[i].fd >= 0)
            close(streams[i].fd);
    result->took_ms = now_ms() - start;
    return true;
}
