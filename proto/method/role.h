/*
 * The roles of a caller, and the rights that a role can have for a method.  A caller has a set of
 * roles, which may be empty.
 */
#pragma once

enum role {
	ROLE_USER,     /* starts runs, and sees its own runs */
	ROLE_APPROVER, /* decides about parked runs */
	ROLE_ADMIN,    /* sees everything, and has the admin operations */
	ROLE_COUNT,
};

#define ROLE_BIT(role) (1U << (unsigned)(role))
#define ROLES_ALL      (ROLE_BIT(ROLE_COUNT) - 1U)

/* In ascending order: a caller with several roles gets the highest right. */
enum right {
	RIGHT_NO,
	RIGHT_OWN, /* only about the caller's own runs */
	RIGHT_YES, /* where the method is about runs: about all callers' runs */
};

/* "user", "approver", "admin". */
const char *role_word(enum role role);

/* Returns the word of the highest role in a set; "none" for the empty set. */
const char *role_highest(unsigned roles);
