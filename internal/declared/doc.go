// Package declared changes a server to the state that a file declares.
//
// The file names queues, topics with their subscriptions, alarms, users, groups, roles and policies, with the settings
// that matter to it. The package guarantees:
//
//   - Resources and settings that the file does not name stay as they are. A list or text is set as a whole; tags and
//     inline policies are set one by one.
//   - Only a prune deletes, and only resources that an earlier apply of a file of the same name created. Each created
//     resource has the tag sluice-applied-by with the name of the file. Entities that have no tags in IAM and SNS are
//     deleted only with the resource that they belong to, see prune.go.
//   - Applying a file is idempotent. The next apply completes one that stopped half-way.
//   - A file with errors, or with an impossible change, changes nothing.
//
// A file goes through Parse, which needs no server, then Read, Compare and Apply, of which Compare is pure: the wanted
// and the actual state are both maps of settings, by the names in the file. The package calls only operations of AWS,
// so it works with any endpoint that implements them.
package declared
