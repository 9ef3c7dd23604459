// Package declared makes what there is on a server what a file says.
//
// The file names queues, topics with their subscriptions, alarms, users, groups,
// roles and policies, with those of their settings that it cares for. It guarantees:
//
//   - What the file does not name is left alone: resources, and settings of
//     resources. A list or text that it names is as it says, whole; of tags and
//     inline policies, those that it names are.
//   - Nothing is deleted but by a prune, and that deletes only what an earlier
//     apply of a file of the same name made. Everything that is made carries
//     the tag sluice-applied-by with the name of the file. What IAM and SNS have no tags for
//     is not deleted but with what it hangs on, see prune.go.
//   - To apply a file twice is to apply it once. An apply that stops half-way
//     is completed by the next one.
//   - A file that cannot be understood, or asks for what cannot be changed, changes nothing.
//
// The way of a file is Parse, which needs no server, then Read, Compare and Apply, of
// which Compare is pure: what the file wants and what there is are both maps of
// settings, by names that are those of the file. Only the operations of AWS are
// called, so that any endpoint that has them will do.
package declared
