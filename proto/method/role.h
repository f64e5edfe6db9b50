/*
 * What a caller may be to the daemon, and what a role may do with a method.  Roles are a set: one
 * caller may hold several, or none.
 */
#pragma once

enum role {
	ROLE_USER,     /* has programs run, and sees its own runs */
	ROLE_APPROVER, /* decides about runs that wait for a person */
	ROLE_ADMIN,    /* sees everything, and has the levers */
	ROLE_COUNT,
};

#define ROLE_BIT(role) (1U << (unsigned)(role))
#define ROLES_ALL      (ROLE_BIT(ROLE_COUNT) - 1U)

/* In order: of several roles, the one that gives most decides. */
enum right {
	RIGHT_NO,
	RIGHT_OWN, /* only about the caller's own runs */
	RIGHT_YES, /* about everybody's, where it is about runs */
};

/* "user", "approver", "admin". */
const char *role_word(enum role role);

/* The highest role of a set, as a word; "none" of the empty one. */
const char *role_highest(unsigned roles);
