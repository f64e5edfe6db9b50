#include "proto/sha256.h"

#include <cpuid.h>
#include <immintrin.h>
#include <string.h>

#define LEAF_FEATURES 7
#define SHA_BIT       (1U << 29) /* of ebx, in leaf 7 */
#define SSE41_BIT     (1U << 19) /* of ecx, in leaf 1 */
#define LEN_BYTES     8

static const uint32_t start_state[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
	0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

static const uint32_t rounds[64] __attribute__((aligned(16))) = { 0x428a2f98, 0x71374491,
	0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
	0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc,
	0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354,
	0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
	0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c,
	0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f,
	0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2 };

bool sha256_is_there(void)
{
	unsigned a = 0;
	unsigned b = 0;
	unsigned c = 0;
	unsigned d = 0;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & SSE41_BIT))
		return false;
	return __get_cpuid_count(LEAF_FEATURES, 0, &a, &b, &c, &d) && (b & SHA_BIT);
}

/* Code for processors that have the instructions; in one piece, so that all of it stays in registers. */
#define WITH_SHA __attribute__((target("sha,sse4.1")))
#define IN_PLACE __attribute__((target("sha,sse4.1"), always_inline)) static inline

/* As the instructions want it: a b e f and c d g h. */
struct halves {
	__m128i abef, cdgh;
};

IN_PLACE struct halves halves_of(const uint32_t state[8])
{
	__m128i low = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i_u *)state), 0xb1);
	__m128i high = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i_u *)(state + 4)), 0x1b);

	return (struct halves){ _mm_alignr_epi8(low, high, 8), _mm_blend_epi16(high, low, 0xf0) };
}

IN_PLACE void put_halves(uint32_t state[8], struct halves halves)
{
	__m128i low = _mm_shuffle_epi32(halves.abef, 0x1b);
	__m128i high = _mm_shuffle_epi32(halves.cdgh, 0xb1);

	_mm_storeu_si128((__m128i_u *)state, _mm_blend_epi16(low, high, 0xf0));
	_mm_storeu_si128((__m128i_u *)(state + 4), _mm_alignr_epi8(high, low, 8));
}

/* `words` is a window of sixteen words of the schedule, four to a register: it moves on by four. */
IN_PLACE void move_window(__m128i words[4], unsigned i)
{
	const __m128i newest = words[(i + 3) % 4];
	__m128i next = _mm_sha256msg1_epu32(words[i % 4], words[(i + 1) % 4]);

	next = _mm_add_epi32(next, _mm_alignr_epi8(newest, words[(i + 2) % 4], 4));
	words[i % 4] = _mm_sha256msg2_epu32(next, newest);
}

/* Four rounds, those from 4 * i on. */
IN_PLACE void do_rounds(struct halves *halves, __m128i words, unsigned i)
{
	const __m128i *constants = (const __m128i *)(const void *)rounds;
	__m128i sum = _mm_add_epi32(words, _mm_load_si128(constants + i));

	halves->cdgh = _mm_sha256rnds2_epu32(halves->cdgh, halves->abef, sum);
	halves->abef =
		_mm_sha256rnds2_epu32(halves->abef, halves->cdgh, _mm_shuffle_epi32(sum, 0x0e));
}

IN_PLACE struct halves add_block(struct halves before, const uint8_t bytes[SHA256_BLOCK])
{
	const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
	struct halves now = before;
	__m128i words[4];

	for (unsigned i = 0; i < 4; i++)
		words[i] =
			_mm_shuffle_epi8(_mm_loadu_si128((const __m128i_u *)bytes + i), big_endian);
#pragma GCC unroll 16
	for (unsigned i = 0; i < 16; i++) {
		do_rounds(&now, words[i % 4], i);
		if (i < 12) /* sixteen words were there to begin with */
			move_window(words, i);
	}
	return (struct halves){ _mm_add_epi32(now.abef, before.abef),
		_mm_add_epi32(now.cdgh, before.cdgh) };
}

WITH_SHA static void add_blocks(uint32_t state[8], const uint8_t *bytes, size_t count)
{
	struct halves halves = halves_of(state);

	for (; count > 0; count--, bytes += SHA256_BLOCK)
		halves = add_block(halves, bytes);
	put_halves(state, halves);
}

void sha256_start(struct sha256 *sha)
{
	memcpy(sha->state, start_state, sizeof(start_state));
	sha->len = 0;
}

void sha256_add(struct sha256 *sha, const void *bytes, size_t len)
{
	size_t held = sha->len % SHA256_BLOCK;
	const uint8_t *from = bytes;

	sha->len += len;
	if (held) {
		size_t room = SHA256_BLOCK - held;
		size_t take = len < room ? len : room;

		memcpy(sha->block + held, from, take);
		if (take < room)
			return;
		add_blocks(sha->state, sha->block, 1);
		from += take;
		len -= take;
	}
	add_blocks(sha->state, from, len / SHA256_BLOCK);
	memcpy(sha->block, from + (len - len % SHA256_BLOCK), len % SHA256_BLOCK);
}

void sha256_end(struct sha256 *sha, uint8_t ret_digest[32])
{
	size_t held = sha->len % SHA256_BLOCK;
	uint64_t bits = sha->len * 8;

	sha->block[held++] = 0x80;
	memset(sha->block + held, 0, SHA256_BLOCK - held);
	if (held > SHA256_BLOCK - LEN_BYTES) {
		add_blocks(sha->state, sha->block, 1);
		memset(sha->block, 0, SHA256_BLOCK);
	}
	for (unsigned i = 0; i < LEN_BYTES; i++)
		sha->block[SHA256_BLOCK - 1 - i] = (uint8_t)(bits >> (8 * i));
	add_blocks(sha->state, sha->block, 1);
	for (unsigned i = 0; i < 32; i++)
		ret_digest[i] = (uint8_t)(sha->state[i / 4] >> (8 * (3 - i % 4)));
}
