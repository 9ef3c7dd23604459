// Package signing keeps the key with which messages of topics are signed, and its certificate.
//
// An installation signs with one key at a time. The first is made together with the first topic, by the owner of the
// control store, where it is a record that all nodes read:
//
//	signing/<32 hexadecimal digits>   the certificate, and the private key encrypted under the master key
//
// The digits are the name under which the certificate is served, see Name. A key has a successor after a year: the
// owner of the control store makes it, and it signs some minutes later, when all nodes have it. The certificates of all
// records are served, so that messages that were signed before can still be verified; a month later, when there are
// none, the old record goes. See Rotation. Older programs read several records as well, and sign with the newest.
//
// The certificate is made by the key itself, for no authority vouches for the name of a server. A subscriber verifies
// that a message comes from the server that it has the certificate from, so it fetches the certificate over HTTPS, from
// an address that it knows.
package signing
