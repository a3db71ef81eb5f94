/* The pages' files as answers: from memory, packed once at start. */
#ifndef BENCHLEDGER_SERVER_API_ASSETS_H
#define BENCHLEDGER_SERVER_API_ASSETS_H

struct answer;
struct asset_room;
struct request;

struct asset_room *assets_open(void);
void assets_close(struct asset_room *room); /* NULL is fine */
/* GET /assets/NAME: an address with the right version may be kept for good. */
void assets_answer(struct request *request, struct answer *answer);
/* The asset NAME, for an address of its own. */
void assets_send(struct request *request, struct answer *answer, const char *name);
/* What browsers ask for of their own accord where a page names no icon: JSON, files. */
void assets_icon(struct request *request, struct answer *answer);

#endif
