// Package egress decides which addresses the server may connect to on behalf of its users. A user who can subscribe an
// endpoint to a topic, or register an identity provider, could otherwise make the server send requests to addresses
// that only the server can reach: its own metrics, the metadata service of a cloud with its credentials, machines
// behind the same firewall.
//
// Public addresses are open. Loopback, private, link-local, multicast, unspecified, reserved and documentation
// addresses are closed unless a rule names them, in every form in which IPv6 carries IPv4. The check is of the address
// of the connection itself, after the name was resolved, so that neither a name that resolves to something else the
// second time nor a number written in an unusual way gets around it.
package egress
