/* Tells one URL of what happened: signed JSON bodies, in order, one at a time, again and again until it
 * answers with 2xx.
 *
 * The queue is in memory: it is bounded, and what is in it when the service ends is lost, which the log
 * says. So a receiver must be able to miss one, and to get one twice (X-Benchledger-Delivery is then the
 * same). */
#ifndef BENCHLEDGER_SERVER_NOTIFY_WEBHOOK_H
#define BENCHLEDGER_SERVER_NOTIFY_WEBHOOK_H

#include <stddef.h>
#include <stdint.h>

enum { WEBHOOK_SECRET_LEAST = 16 };

/* Times in ms. */
struct webhook_options {
    const char *url, *secret; /* copied */
    int64_t base_ms;    /* pause after the first failure; doubles; chance takes up to half off */
    int64_t ceiling_ms; /* the longest pause */
    int64_t give_up_ms; /* a body this old is dropped when an attempt fails */
    int64_t connect_ms; /* to connect */
    int64_t total_ms;   /* for a whole attempt */
    int64_t report_ms;  /* bodies that had no room are logged once in this time */
    size_t most_bodies, most_bytes; /* that wait; more push out the oldest */
};

/* Since the start, but for QUEUED. */
struct webhook_figures {
    uint64_t delivered;
    uint64_t failed;  /* attempts */
    uint64_t dropped; /* bodies: no room, given up, 410 */
    size_t queued;    /* bodies that wait, the one being sent included */
};

struct webhook;

/* What the service uses. */
struct webhook_options webhook_defaults(const char *url, const char *secret);
/* What is wrong with a configuration, and in *KEY the key to blame; NULL: nothing. An empty URL is off. */
const char *webhook_problem(const char *url, const char *secret, const char **key);

/* Starts the thread; before threads that use libcurl otherwise. NULL and *PROBLEM, a constant text. */
struct webhook *webhook_start(const struct webhook_options *options, const char **problem);
/* Queues a copy of SIZE bytes of JSON. Any thread; never waits for the network. NULL: does nothing. */
void webhook_post(struct webhook *webhook, const char *json, size_t size);
/* Any thread; of NULL all is 0. */
struct webhook_figures webhook_figures(struct webhook *webhook);
/* Ends within a second: what can be sent in less than half of one is, the rest is lost, and counted in the
 * log. Frees it; NULL is accepted. No webhook_post may be running, or follow. */
void webhook_stop(struct webhook *webhook);

#endif
