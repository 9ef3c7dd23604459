// Package idle deletes unused queues, if the operator turns it on.
//
//	          was not used                       notice is over
//	in use ───────────────────────► announced ──────────────────► sealed ───► deleted
//	  ▲                                 │                            │
//	  └─────────────────────────────────┴────────────────────────────┘
//	           used, not empty any more, or to be kept
//
// # What is guaranteed
//
//   - No message is lost: a queue is deleted only when no shard holds a message of it, in any state, or has one in
//     transit to it. The check happens while the queue is sealed: its shards refuse all calls and messages for it, on
//     every node that may own them, so that their answers stay true until the queue is deleted or unsealed.
//   - A queue is deleted only if it was watched and unused for Options.After: time before the option was set does not
//     count, nor does time without records.
//   - The deletion is announced Notice(After) before, in the log and in the trail; a use in that time revokes it. An
//     outdated announcement, after a stop or a restore from an old backup, is repeated.
//   - Announcement, seal and deletion are changes of the control store. The node that owns it decides, and its
//     successor continues: each happens once, with its event in the trail in the same commit.
//   - A queue that others depend on stays: the dead-letter queue of a queue or of a subscription, the source of a
//     dead-letter queue that has messages, a queue that a topic delivers to, one whose metrics an alarm watches, one
//     that a file declares (see the command apply) and one whose owner says so by a tag.
//
// Options.Now gives the time. The time of a stopped server counts: the server did not watch, but no client could use a
// queue either.
package idle
