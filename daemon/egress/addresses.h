/*
 * Which addresses ced-egress may connect to.  This host's own, private networks, link-local
 * addresses (where clouds have their metadata) and the like are closed, whatever rule and whatever
 * name leads there.  The setting `private` opens single ones.
 *
 * An address has 16 bytes; those of IPv4 are ::ffff:a.b.c.d.  Addresses of IPv6 that hold one of
 * IPv4 are judged by that too.
 */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "proto/internal/egressmsg.h"

struct address {
	uint8_t bytes[16];
};

struct address address_of_v4(struct in_addr in);
bool address_is_v4(const struct address *address);

/* Reads an address as a person writes it.  False: it is none. */
bool address_read(const char *text, struct address *ret_address);
void address_write(const struct address *address, char ret_text[EGRESS_ADDRESS_MAX]);

/* For connect().  Returns its length. */
socklen_t address_socket(
	const struct address *address, uint16_t port, struct sockaddr_storage *ret_to);

/* Replaces what the setting opens. */
void addresses_open(const struct egress_private *privates, uint32_t count);

/* Whether a connection there is refused. */
bool address_is_closed(const struct address *address, uint16_t port);
