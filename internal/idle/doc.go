// Package idle deletes unused queues, if the operator wants that.
//
//	          was not used                       notice is over
//	in use ───────────────────────► announced ──────────────────► sealed ───► deleted
//	  ▲                                 │                            │
//	  └─────────────────────────────────┴────────────────────────────┘
//	           used, not empty any more, or to be kept
//
// # What is guaranteed
//
//   - No message is lost: a queue is deleted only when no shard holds a message of it, in any state, or brings one to
//     it. That is checked while the queue is sealed: its shards refuse all calls to it and all messages for it, on
//     every node that may own them, so that their answers stay true until the queue is deleted or opened again.
//   - A queue is deleted only if it was unused for Options.After, and for as long it was watched: time before the
//     option was given does not count, nor what cannot be known.
//   - The deletion was announced Notice(After) before, in the log and in the trail; a use in that time revokes it. An
//     announcement that is out of date, because the server was stopped or was restored from an old backup, is made
//     anew.
//   - Announcement, seal and deletion are changes of the control store. The node that owns it decides, and its
//     successor goes on where it was: each is made once, and has its event in the trail in the same commit.
//   - A queue that others depend on stays: the dead-letter queue of a queue or of a subscription, the source of a
//     dead-letter queue that has messages, a queue that a topic delivers to, one whose metrics an alarm watches, one
//     that a file declares (see the command apply) and one whose owner says so by a tag.
//
// Time is what Options.Now says. A server that was stopped has not watched, but it was not used either: that time
// counts.
package idle
