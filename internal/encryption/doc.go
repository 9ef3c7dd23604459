// Package encryption encrypts messages before they reach a store, and decrypts messages that were read from one.
//
// The service that accepts a message encrypts its body and attributes, in the goroutine of the request. From there on
// the store, its log, the records of a cluster, outboxes, copies of publications, checkpoints and backups have
// ciphertext. It is decrypted only where it is used: for a consumer, a person who looks into a queue, a filter, an
// edit. A message that moves to another queue stays encrypted under its key, and an unencrypted one stays unencrypted,
// as in SQS.
//
// # Data keys
//
// A message is encrypted under a data key of its queue, which is wrapped by a key of the ring and stored with the
// message, as SQS stores it. So a message can be read anywhere with only the ring: there is no table of data keys to
// replicate, to back up or to lose, and the last wrapped key of a queue goes with its last message. A wrapped key and
// its overhead take about 90 bytes.
//
// # The nonce never repeats
//
// The process that encrypts with a data key makes it from the system's random numbers. It is only in the memory of that
// process, and is never loaded to encrypt again: a data key that was unwrapped only decrypts. Its nonces are a counter
// of that process, which starts at 0. So under one data key no nonce repeats:
//
//   - After a restart, a crash or a failover, another process encrypts, with data keys of its own.
//   - A restored backup has wrapped keys, and no process encrypts under these.
//   - Nodes of a cluster that encrypt for one queue at the same time each have their own data key.
//   - Goroutines of one process share a counter, from which each takes a number by an atomic addition.
//
// Two processes have the same data key only if the same 256 random bits occur twice, or if a running virtual machine
// was copied with its memory, which also duplicates the server.
//
// # The format
//
// The body of an encrypted message is a sequence of parts, see queue.Part. The bytes of an encrypted part:
//
//	version  1 byte    1
//	key      8 bytes   the beginning of the id of the key that has wrapped the data key
//	queue    varint    for which the data key was made; 0: for publications
//	wrapped  60 bytes  the data key: nonce, ciphertext and tag; associated data: "sluice data key 1", queue (8 bytes)
//	counter  5 bytes   the nonce, of 96 bits, in big-endian order as all numbers of fixed size
//	         n bytes   AES-256-GCM of the text
//	         16 bytes  tag
//
// The associated data of a part are "sluice message 1", the queue (8 bytes), the id of the message (16 bytes), what is
// encrypted (1 byte: a message, a publication, an edit), the number of the part (4 bytes), and whether it is the last
// (1 byte). So a part can be decrypted only in its own place, and parts cannot be omitted or exchanged. The id of a
// message changes when a task moves it; the mark of encrypted messages, which is not authenticated, then holds the
// previous id. So an attacker who can write into the store can put the whole ciphertext of a message into another one,
// as a move does, but cannot change it.
//
// The text of the first part of a message begins with a digest and attributes:
//
//	has a digest  1 byte   0 or 1; without it, the digest is computed
//	digest        16 bytes of MD5, if so
//	attributes    varint   how many; of each: name, type, value
//	              n bytes  of the body
//
// # Why texts are not compressed
//
// Ciphertext does not compress, so encrypted messages take the space of their texts. Compressing them first would
// reveal more than lengths do today: the length of a compressed text depends on its content. A sender who chooses a
// part of messages, such as a field of a form, and sees sizes on the disk, in a backup or between nodes can guess the
// rest of them byte by byte, as the attacks CRIME and BREACH did with TLS and HTTP. It also costs a microsecond for
// each KiB, several times as much as AES. A sender of long texts can compress them itself, knowing their content.
//
// # Memory
//
// Ciphertext on its way into a queue is in buffers that are reused, see Sealed. A message of this process is decrypted
// from the record that the store has read, see queue.OpenMessage; a message from another node, from the message itself.
// So a message takes the memory of one text, as an unencrypted one does.
//
// # Bounds
//
// Data keys are in two tables of fixed size, one to encrypt and one to decrypt, that are read and written without
// locks. Two queues that share a place displace each other: that costs only a new data key, 2 µs. A data key is renewed
// after its period, or after 2^32 messages.
package encryption
