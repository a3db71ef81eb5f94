/* One value of the configuration: text to field and back. Used by the loader and the printers. */
#ifndef BENCHLEDGER_CONFIG_VALUE_H
#define BENCHLEDGER_CONFIG_VALUE_H

#include "config/config.h"

/* Parses TEXT for KEY into CONFIG (NULL: only checks). False and what is wrong in PROBLEM. */
bool config_value_set(struct config *config, const struct config_key *key, const char *text,
                      char problem[256]);
/* Sets a text without a check. */
void config_value_text(struct config *config, const struct config_key *key, const char *text);
/* A text field, "" when not set. KEY must be a text or a secret. */
const char *config_value_get(const struct config *config, const struct config_key *key);
/* A list field, NULL-terminated. */
char *const *config_value_list(const struct config *config, const struct config_key *key);
void config_value_clear(struct config *config, const struct config_key *key);

#endif
