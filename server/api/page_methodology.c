#include "server/api/page_methodology.h"

#include <string.h>

#include "pages/frame.h"
#include "pages/methodology.h"
#include "server/api/pages.h"
#include "server/http/request.h"

enum { PROTOCOL_ROOM = 80 };

void page_methodology_list(struct request *request, struct answer *answer)
{
    static const char title[] = "Methodology";
    const struct frame frame = {.title = {title, strlen(title)}, .here = "/methodology"};
    struct buffer page = {0};
    frame_open(&page, &frame);
    methodology_list(&page, (const char *const *)request->service->config->board_protocols);
    frame_close(&page);
    pages_send(answer, 200, &page);
}

/* A version that nobody has measured by has no methodology. */
static bool is_known(const struct config *config, const char *protocol)
{
    char **const lists[] = {config->protocols, config->board_protocols};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (char **item = lists[i]; *item; item++)
            if (!strcmp(*item, protocol))
                return true;
    return methodology_knows(protocol);
}

void page_methodology(struct request *request, struct answer *answer)
{
    char family[PROTOCOL_ROOM], version[PROTOCOL_ROOM];
    struct buffer id BUFFER_SCOPE = {0}, title BUFFER_SCOPE = {0};
    request_parameter(request, 0, family, sizeof family);
    request_parameter(request, 1, version, sizeof version);
    buffer_format(&id, "%s/%s", family, version);
    const struct js_value name = js_make_string(id.data, id.size);
    const struct protocol *found = protocol_find(&name);
    if (!found || !is_known(request->service->config, buffer_string(&id))) {
        pages_message(answer, 404, "No such protocol", "No protocol with this name is known here.");
        return;
    }
    buffer_format(&title, "Methodology of %s", buffer_string(&id));
    const struct frame frame = {.title = {title.data, title.size}, .here = "/methodology"};
    struct buffer page = {0};
    frame_open(&page, &frame);
    methodology_write(&page, found, text_of(&name), request->service->policy.rules,
                      request->service->config->licence);
    frame_close(&page);
    pages_send(answer, 200, &page);
}
