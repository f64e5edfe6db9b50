/* What the words of `cectl status` mean, for its help. */
#pragma once

#include "proto/base/buf.h"

int status_words_help(struct buf *out);
