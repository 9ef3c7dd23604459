// Package signing holds the key that signs the messages of topics, and its certificate.
//
// An installation signs with one key at a time. The first is made together with the first topic, by the owner of the
// control store, where it is a record that all nodes read:
//
//	signing/<32 hexadecimal digits>   the certificate, and the private key encrypted under the master key
//
// The digits are the name under which the certificate is served, see Name. A key gets a successor after a year: the
// owner of the control store creates it, and it begins to sign some minutes later, when all nodes have it. The
// certificates of all records are served, so that earlier messages can still be verified; a month later, when none are
// left, the old record is removed. See Rotation. Older programs read several records as well, and sign with the newest.
//
// The certificate is self-signed, because no authority vouches for the name of a server. A subscriber verifies that a
// message comes from the server that has served the certificate, so it fetches the certificate over HTTPS, from an
// address that it knows.
package signing
