#include "server/api/review_query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pages/review_list.h"
#include "server/http/request.h"
#include "validator/text.h"

enum { FLAG_MOST = 64 };

/* "" when it is not there. */
static const char *asked(const struct request *request, const char *name)
{
    const char *value = request_query(request, name);
    return value ? value : "";
}

/* A number from 1; *OUT stays when TEXT is empty. */
static bool read_number(const char *text, unsigned long long most, unsigned long long *out)
{
    if (!*text)
        return true;
    errno = 0;
    unsigned long long number = strtoull(text, NULL, 10);
    if (errno || text[strspn(text, "0123456789")] || !number || number > most)
        return false;
    *out = number;
    return true;
}

bool review_query_read(const struct request *request, size_t usual, size_t most,
                       struct review_query *query)
{
    unsigned long long before = 0, limit = usual;
    *query = (struct review_query){.flag = asked(request, "flag"),
                                   .decision = asked(request, "decision")};
    enum review_decision decision = review_decision_find(query->decision);
    if (!read_number(asked(request, "before"), UINT64_MAX, &before) ||
        (most && !read_number(asked(request, "limit"), most, &limit)))
        return false;
    query->wanted =
        (struct store_quarantine){.before = before,
                                  .most = limit,
                                  .flag = *query->flag ? query->flag : NULL,
                                  .kept = (decision == REVIEW_KEPT) - (decision == REVIEW_OPEN)};
    return decision < REVIEW_DECISIONS && strlen(query->flag) <= FLAG_MOST &&
           text_is_formed((struct text){query->flag, strlen(query->flag)});
}
