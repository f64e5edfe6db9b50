/*
 * The numbers of facets in the table of that name.  1 to FACET_LAST are the columns of
 * STMT_SETTLE_RUN.
 */
#pragma once

enum facet {
	FACET_OUTCOME = 1,
	FACET_LANGUAGE = 2,
	FACET_UID = 3,
	FACET_AGENT = 4,
	FACET_TASK = 5,
	FACET_CODE_HASH = 6,
	FACET_POLICY = 7,
	FACET_LAST = FACET_POLICY,
	FACET_RULE = 8, /* of a finding: a run may have several */
};
