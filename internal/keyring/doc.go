// Package keyring manages the keys under which an installation encrypts messages, in a file beside the data or
// elsewhere.
//
// # The file
//
// The file is text, so that an operator can look at it, copy it and store it where other secrets are:
//
//	sluice encryption keys 1
//	key UUID TIME HEX
//	end SUM
//
// There is one line for each key, the one that encrypts first. UUID is the key's id, TIME its creation time (RFC 3339),
// HEX its 32 bytes. SUM is the beginning of the SHA-256 digest of all lines before it. Empty lines and lines that begin
// with # are ignored, also by the digest.
//
// The id is derived from the key, and the digest covers all keys. So a file that has lost its end, a line or a digit is
// refused as a whole: no part of it is ever used, and it is never replaced.
//
// # Sealed files
//
// A key service can seal the keys, see Service. The file then begins with "sluice encryption keys 2", and has each key
// as sealed by the service, in base64, instead of HEX. A ring of such a file is unusable until the service has opened
// its keys; the id shows that it has returned the right ones. The service is called when a server starts, when an
// operator changes the file, and then regularly to check whether it still opens the keys, but never for a message.
//
// The service could also wrap each data key. Then a message would be a few hundred bytes longer, and sends and receives
// would wait for the service: after a restart, for each data key of a backlog.
//
// # Wrapping
//
// A key of the ring never encrypts a message. It wraps data keys: AES-256-GCM under a random nonce of 96 bits, with the
// use of the data key as associated data. NIST SP 800-38D allows 2^32 random nonces under one key; at ten new data keys
// a second that takes 13 years. Rotate a key before that.
package keyring
