/* Other names for languages that callers may use. */
#pragma once

/*
 * Returns the runtime that `word` usually means: "py" is "python", "js" and "node" are
 * "javascript", "sh" is "bash".  NULL: not an alias.  Callers must first look for a runtime whose
 * name is `word`.
 */
const char *language_of_alias(const char *word);
