// Package topic keeps the records of topics and subscriptions, with their attributes and tags.
//
// All records are in memory on every node, like the catalog of queues, because each publish reads them. A record is
// never modified: a change replaces it. The records are stored in the control store, under the prefix sns/:
//
//	sns/topic/NAME           a topic; NAME is the JSON of its Name
//	sns/subscription/ID      a subscription; it names its topic
//
// A change of the control store may also hold the internal queue of a FIFO topic, or of a subscription of an endpoint
// other than a queue; see catalog.Name.Internal. A record and its queue are created and deleted together.
//
// Programs that are older than this package cannot read these records, which need the format formats.Topics. As long as
// such a program runs on a node, topics cannot be created.
package topic
