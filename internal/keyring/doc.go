// Package keyring keeps the keys under which an installation encrypts messages, in a file beside or away from the data.
//
// # The file
//
// The file is text, so that an operator can look at it, copy it and store it where other secrets are:
//
//	sluice encryption keys 1
//	key UUID TIME HEX
//	end SUM
//
// There is one line for each key, the one that encrypts first. UUID is the key's id, TIME when it was made (RFC 3339),
// HEX its 32 bytes. SUM is the beginning of the SHA-256 digest of all lines before it. Lines that begin with # and
// empty lines are left out, also of the digest.
//
// The id is derived from the key, and the digest covers all keys. So a file that lost its end, a line or a digit is
// refused as a whole: no part of it is ever used, and nothing replaces it.
//
// # Wrapping
//
// A key of the ring never encrypts a message. It wraps data keys: AES-256-GCM under a random nonce of 96 bits, with
// what the data key is for as associated data. NIST SP 800-38D allows 2^32 random nonces under one key; at ten new data
// keys a second that takes 13 years. Rotate a key before that.
package keyring
