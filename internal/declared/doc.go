// Package declared makes what there is on a server what a file says.
//
// The file names queues, topics with their subscriptions, alarms, users, groups,
// roles and policies, with those of their settings that it cares for. It guarantees:
//
//   - Resources, and settings of resources, that the file does not name are left alone. A list or text that it names is
//     set as a whole; tags and inline policies are set one by one.
//   - Nothing is deleted but by a prune, and that deletes only what an earlier apply of a file of the same name made.
//     Everything that is made carries the tag sluice-applied-by with the name of the file. Entities that have no tags
//     in IAM and SNS are deleted only with the resource that they belong to, see prune.go.
//   - To apply a file twice is to apply it once. An apply that stops half-way
//     is completed by the next one.
//   - A file that cannot be understood, or asks for what cannot be changed, changes nothing.
//
// A file goes through Parse, which needs no server, then Read, Compare and Apply, of which Compare is pure: the wanted
// and the actual state are both maps of settings, by the names in the file. Only the operations of AWS are called, so
// that any endpoint that has them will do.
package declared
