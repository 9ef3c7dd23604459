// Package signing keeps the key with which messages of topics are signed, and its certificate.
//
// An installation has one key. It is made together with the first topic, by the owner of the control store, where it is a
// record that all nodes read:
//
//	signing/<32 hexadecimal digits>   the certificate, and the private key encrypted under the master key
//
// The digits are the name under which the certificate is served, see Name. If there is more than one record, messages are
// signed with the newest key, and the certificates of all are served: messages that were signed before can still be
// verified.
//
// The certificate is made by the key itself, for no authority vouches for the name of a server. A subscriber verifies that a
// message comes from the server that it has the certificate from, so it fetches the certificate over HTTPS, from an address
// that it knows.
package signing
