// Package trail keeps who has asked the server for what: one event for each call that sets
// something up or asks how it is set up, in the form of AWS CloudTrail's records. Calls that
// send and receive messages, data events, are not among them, but can be given to a DataSink.
//
// # What is guaranteed
//
//   - The event of a call that has changed the control store is in the commit of that change: it is there exactly if
//     the change is, and wherever the change is. The answer to the call is added to it within a second, or is missing
//     if the server dies meanwhile.
//   - Other events, of calls that were refused or change nothing there, follow within a second.
//     While they cannot be written, the server keeps them up to MaxPendingBytes; it drops further
//     ones, and counts them. The events of an account's calls get at most as much room as they
//     leave free, so that they take none from those of others.
//   - Secrets, session tokens and message bodies are in no event.
//   - Events of changes are kept for 90 days and take 256 MiB of the disk at most, others 64 MiB: a
//     caller who is refused all day cannot push out what others have changed. The oldest go
//     first.
//
// A look-up reads the events of its account only: each account has a list of its own, in the same commits.
//
// Events can be put into outboxes, from which they are brought elsewhere: with the commit that stores them, if a
// Selector says so. They stay in the outbox until they are marked as delivered, on whichever node they were written.
//
// Events are in the control store, but are not records that every node keeps in memory:
// their keys begin with the byte 255. A program that does not know them leaves them alone.
package trail
