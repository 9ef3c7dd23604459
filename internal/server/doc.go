// Package server builds Sluice out of its parts and gives it to the network.
//
// A request comes in at a socket, is recognised as one of the wire protocols,
// authenticated, handed to its operation, and answered in the protocol it came
// in. The package bounds what a client can take of the machine (header and body
// sizes, time) and what all of them can take together (connections, memory for
// bodies), and decides in which order things start and stop. It decides nothing
// about queues.
package server
