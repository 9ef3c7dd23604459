// Package tenant limits an account's, or a user's, use of the server.
//
// An operator sets limits; without one nothing is limited. An account can have a limit of each [Kind], a user only of
// those for which [Kind.OfUsers] is true: queues, topics, subscriptions and messages belong to accounts. A request
// must keep the limits of its account and those of its user.
//
// # What is guaranteed
//
//   - A rate is a number of messages a second, over any time, plus at most one second's worth that was saved up. Each
//     entry of a batch counts, and so does each message that a receive returns; a receive that returns none counts as
//     one. A request passes if one message may pass, and its excess is paid back before the next one: so a batch is
//     never too large for a rate, and the rate still holds.
//   - A number limits the stored bytes, and another the requests in progress. The node counts bytes when it admits
//     them, before they are stored.
//   - The numbers of queues, topics and subscriptions are decided where they are changed, one change after the other.
//   - On one machine the limits are exact, except for bytes, which are estimated; see shard.Stored. In a cluster each
//     node knows the use on the others from their last heartbeats: the total use can exceed a limit by the use until
//     the next heartbeat. A rate pays that back.
//   - An account that is refused costs the others nothing. If nothing is limited, a request costs one atomic load.
//
// A rate is not divided among nodes by a fixed number. Each node knows the whole of it, less the use of all nodes, and
// has a share that follows the demand of its clients; see rate.
//
// Records are in the control store, as JSON:
//
//	tenant/ACCOUNT         the Limits of an account
//	tenant/ACCOUNT/ID      those of a user, by its unique id
//
// Programs that are older than this package cannot read them: they need the format formats.Tenants.
package tenant
