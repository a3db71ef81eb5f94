/* Tells one URL of what happened: signed JSON bodies, in order, one at a time, again and again until it
 * answers with 2xx, or has refused one often enough.
 *
 * The queue is in memory and bounded: what is in it when the service ends is gone from it. Who posts learns
 * by the mark up to where everything has had its end, and posts the rest again after a start, as watch.c
 * does. So a receiver must be able to get a body twice: X-Benchledger-Delivery is then the same. */
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
    unsigned
        most_refusals; /* a body that is answered with a 4xx so often is dropped; see webhook.c */
    size_t most_bodies, most_bytes; /* that wait; more push out the oldest */
};

struct webhook_message {
    const char *json; /* copied */
    size_t size;
    const char
        *key; /* what tells it from others, also after a restart: its delivery id is made of this */
    uint64_t mark; /* rises from message to message; 0: it has none */
};

/* Since the start, but for QUEUED and BYTES. */
struct webhook_figures {
    uint64_t delivered;
    uint64_t failed;  /* attempts */
    uint64_t dropped; /* bodies: no room, given up, refused */
    uint64_t mark; /* of the last message before which, and itself, all were delivered or dropped */
    size_t queued; /* bodies that wait, the one being sent included */
    size_t bytes;  /* of them together */
};

struct webhook;

/* What the service uses. */
struct webhook_options webhook_defaults(const char *url, const char *secret);
/* What is wrong with a configuration, and in *KEY the key to blame; NULL: nothing. An empty URL is off. */
const char *webhook_problem(const char *url, const char *secret, const char **key);

/* Starts the thread; before threads that use libcurl otherwise. NULL and *PROBLEM, a constant text. */
struct webhook *webhook_start(const struct webhook_options *options, const char **problem);
/* Queues MESSAGE. Any thread; never waits for the network. NULL: does nothing. */
void webhook_post(struct webhook *webhook, const struct webhook_message *message);
/* Any thread; of NULL all is 0. */
struct webhook_figures webhook_figures(struct webhook *webhook);
/* Ends within a second: what can be sent in less than half of one is, the rest is counted in the log. Frees it; NULL is accepted. No webhook_post may be running, or follow. */
void webhook_stop(struct webhook *webhook);

#endif
