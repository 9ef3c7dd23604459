// Package topic holds the records of topics and subscriptions: which there are, with their attributes and tags.
//
// All of it is in memory on every node, as the catalog of queues is, because each publish reads it. The records that it
// gives out are never changed: a change makes new ones. They are stored in the control store, under the prefix sns/:
//
//	sns/topic/NAME           a topic; NAME is the JSON of its Name
//	sns/subscription/ID      a subscription; it names its topic
//
// A change of the control store may hold, beside these records, the internal queue of a FIFO topic or of a subscription
// that is not a queue, see catalog.Name.Internal: a record and its queue are made and deleted together.
//
// Programs that are older than this package cannot read these records: they need the format formats.Topics. An
// installation in which such a program takes part has no topics instead of a node that fails.
package topic
