// Package trails stores trails, in CloudTrail's sense, and delivers their events to buckets.
//
// # What is guaranteed
//
//   - An event that a trail selects is put into the trail's outbox with the commit that stores the event, and leaves it
//     with a commit that follows the delivery: it is delivered at least once, even if the node that delivers it dies at
//     any point. A file that is delivered again has its old name and replaces the first, unless events were removed
//     meanwhile.
//   - Files hold what happened in five minutes, ten thousand events or 16 MiB at most, and are delivered within about
//     six minutes of their first event while the bucket can be reached.
//   - Data events, of calls that send and receive messages, are in the spool of the node that has answered the call,
//     and are delivered by that node, at least once as far as the spool has them. The spool is written every second,
//     even if buckets cannot be reached.
//   - Trails do not wait for each other: a bucket that does not answer delays the deliveries of its own trails. A few
//     trails are served at the same time, and accounts take turns.
//   - Every hour a digest of the delivered files is signed, if the trail requests digests, even when there were no
//     files. Each digest names the one before it with its hash and signature.
//
// Trails are in the control store, in memory on all nodes, and work on the node that owns it:
//
//	cloudtrail/trail/ACCOUNT/REGION/NAME     a trail, as JSON
//	cloudtrail/status/ID                     what became of its deliveries, and its chains of digests, as JSON
//	cloudtrail/key/REGION/FINGERPRINT        a key that signs digests, as JSON; the private key is encrypted
//	255 "trails/f" ID (16 bytes) NUMBER (8)  a file that is in no digest yet, as JSON; not in memory
//
// Programs that are older than this package cannot read these records: they need the format formats.Trails.
package trails
