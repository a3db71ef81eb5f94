/* The Lua scripts of link.h, by their number. */
#ifndef BENCHLEDGER_SERVER_SHARED_SCRIPTS_H
#define BENCHLEDGER_SERVER_SHARED_SCRIPTS_H

#include "server/shared/link.h"

const char *script_text(enum link_script script);

#endif
