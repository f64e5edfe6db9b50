#include "proto/number.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A finite number as people write it: digits times a power of ten. */
struct decimal {
	uint64_t digits;
	int exponent;
};

/* A power of ten below this many keeps digits * 10^n inside 128 bits: 2^64 * 10^18 < 2^128. */
#define DECIMAL_SHIFT_MAX 18

bool number_is(const struct value *value)
{
	if (value_is(value, VALUE_REAL))
		return isfinite(value->real) != 0;
	return value_is(value, VALUE_INT) || value_is(value, VALUE_UINT);
}

bool number_is_integer(const struct value *value)
{
	if (value_is(value, VALUE_REAL))
		return isfinite(value->real) && trunc(value->real) == value->real;
	return value_is(value, VALUE_INT) || value_is(value, VALUE_UINT);
}

static int order(bool less, bool more)
{
	return (int)more - (int)less;
}

/*
 * Compares with the integer part of the double, which fits; the fraction decides when they are
 * equal.
 */
static int compare_int_real(int64_t integer, double real)
{
	int64_t whole;

	if (real >= 0x1p63)
		return -1;
	if (real < -0x1p63)
		return 1;

	whole = (int64_t)real;
	if (integer != whole)
		return order(integer<whole, integer> whole);
	return order((double)whole<real, (double)whole> real);
}

static int compare_uint_real(uint64_t integer, double real)
{
	uint64_t whole;

	if (real >= 0x1p64)
		return -1;
	if (real < 0)
		return 1;

	whole = (uint64_t)real;
	if (integer != whole)
		return order(integer<whole, integer> whole);
	return order((double)whole<real, (double)whole> real);
}

static int compare_with_real(const struct value *a, double real)
{
	if (a->type == VALUE_REAL)
		return order(a->real<real, a->real> real);
	if (a->type == VALUE_UINT)
		return compare_uint_real(a->uinteger, real);
	return compare_int_real(a->integer, real);
}

int number_compare(const struct value *a, const struct value *b)
{
	if (b->type == VALUE_REAL)
		return compare_with_real(a, b->real);
	if (a->type == VALUE_REAL)
		return -compare_with_real(b, a->real);
	if (a->type != b->type)
		return a->type == VALUE_UINT ? 1 : -1; /* UINT is above every INT */
	if (a->type == VALUE_UINT)
		return order(a->uinteger<b->uinteger, a->uinteger> b->uinteger);
	return order(a->integer<b->integer, a->integer> b->integer);
}

static struct decimal decimal_of_real(double real)
{
	char text[NUMBER_TEXT_MAX];
	struct decimal decimal = { 0, 0 };
	bool fraction = false;

	(void)number_write_real(fabs(real), text);
	for (const char *at = text; *at && *at != 'e'; at++) {
		if (*at == '.') {
			fraction = true;
			continue;
		}
		decimal.digits = decimal.digits * 10 + (uint64_t)(*at - '0');
		decimal.exponent -= fraction;
	}
	if (strchr(text, 'e'))
		decimal.exponent += (int)strtol(strchr(text, 'e') + 1, NULL, 10);
	return decimal;
}

static struct decimal decimal_of(const struct value *value)
{
	struct decimal decimal = { 0, 0 };

	if (value->type == VALUE_REAL) {
		decimal = decimal_of_real(value->real);
	} else if (value->type == VALUE_UINT) {
		decimal.digits = value->uinteger;
	} else {
		decimal.digits = (uint64_t)value->integer;
		if (value->integer < 0)
			decimal.digits = 0 - decimal.digits;
	}
	while (decimal.digits && decimal.digits % 10 == 0) {
		decimal.digits /= 10;
		decimal.exponent++;
	}
	return decimal;
}

/* Computes (digits * 10^shift) % divisor, by squares of 10.  `shift` is at most about 700. */
static uint64_t shifted_rest(uint64_t digits, int shift, uint64_t divisor)
{
	unsigned __int128 rest = digits % divisor, power = 10 % divisor;

	for (; shift > 0 && rest; shift /= 2) {
		if (shift % 2)
			rest = rest * power % divisor;
		power = power * power % divisor;
	}
	return (uint64_t)rest;
}

bool number_is_multiple(const struct value *value, const struct value *step)
{
	struct decimal whole = decimal_of(value), part = decimal_of(step);
	unsigned __int128 divisor = part.digits;

	if (whole.digits == 0 || part.digits == 0)
		return whole.digits == 0;
	if (whole.exponent >= part.exponent)
		return shifted_rest(whole.digits, whole.exponent - part.exponent, part.digits) == 0;
	/* The step has more factors of ten than the number has digits. */
	if (part.exponent - whole.exponent > DECIMAL_SHIFT_MAX)
		return false;
	for (int i = whole.exponent; i < part.exponent; i++)
		divisor *= 10;
	return whole.digits % divisor == 0;
}

int number_as_u64(const struct value *value, uint64_t *ret_number)
{
	if (!number_is_integer(value))
		return -1;
	if (value->type == VALUE_UINT) {
		*ret_number = value->uinteger;
		return 0;
	}
	if (value->type == VALUE_INT) {
		if (value->integer < 0)
			return -1;
		*ret_number = (uint64_t)value->integer;
		return 0;
	}
	if (value->real < 0 || value->real >= 0x1p64)
		return -1;
	*ret_number = (uint64_t)value->real;
	return 0;
}

size_t number_write_real(double real, char ret_text[NUMBER_TEXT_MAX])
{
	/*
	 * Decimals of up to 15 digits survive as doubles, so start there.  The smallest reals hold
	 * fewer.
	 */
	int digits = fabs(real) < DBL_MIN ? 1 : 15;
	size_t len;

	assert(isfinite(real));
	for (; digits <= 17; digits++) {
		(void)snprintf(ret_text, NUMBER_TEXT_MAX - 2, "%.*g", digits, real);
		if (strtod(ret_text, NULL) == real)
			break;
	}
	len = strlen(ret_text);
	if (!strpbrk(ret_text, ".e")) {
		ret_text[len++] = '.'; /* the snprintf() above left room */
		ret_text[len++] = '0';
		ret_text[len] = '\0';
	}
	return len;
}
