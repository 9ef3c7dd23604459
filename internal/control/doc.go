// Package control keeps the control store: the small records that every request needs, such as queues, users and keys.
// All changes of these records, and all notifications of changes, go through this package.
//
// A change is decided by one caller at a time, made durable with one commit, and then applied by the readers, which
// keep their part of the store in memory. The next request of any caller sees it. On a single node the store commits
// the change. In a cluster every node has a copy of the store, but only one node at a time owns it and may change it.
// Its commits go to the log that all copies follow. Readers receive their own node's changes and those of others in the
// same way, when the batch has been applied.
//
// # Tables
//
// A [Table] declares a kind of record: where its records are, how they are read and written, and which format of data
// directories they need. A [Set] has the tables below one prefix. It is the [Reader] of nearly all packages:
//
//   - It keeps the rows in memory behind one lock. Callers see the rows of one commit, never of half of one.
//   - It refuses the first record until every program can read it, and requires the record's format; see [Formats].
//   - It calls the [Hook]s of a table for state that is derived from the rows, such as an index. They run on a new set
//     of rows, without a lock, while all records are loaded, and under the lock after a change.
//   - [Check] reads the same tables for the doctor, and reports each record that cannot be read.
//
// Some packages add to their Set: package catalog calls watchers without a lock, and package monitor has a format that
// only some records of a table need. Package identity reads its few records itself, because the first of them decrypts
// the others and never changes.
//
// The prefixes are:
//
//	directory/   users, groups, roles, their keys and policies: package directory
//	sns/         topics and subscriptions: package topic
//	monitor/     alarms, dashboards and metrics that programs send: package monitor
//	detector/    anomaly detectors: package detector
//	insightrule/ rules of Contributor Insights: package insightrule
//	muterule/    rules that mute alarms: package muterule
//	cloudtrail/  trails and the keys that sign their digests: package trails
//	login/       passwords and second factors of users: package login
//	session/     who has signed in to the console: package session
//	sms/         preferences of accounts for text messages: package preferences
//	signing/     the key that signs messages of topics: package signing
//	encryption/  ids of the keys that messages are encrypted under: package encryption
//	tenant/      limits of accounts and users: package tenant
//	identity/    in a cluster the keys of the installation: package identity
//	all others   queues: package catalog
//
// No record has a key that begins with the byte 0 or 255. Package trail keeps the events of calls under such keys. They
// are part of changes, but no reader sees them, and older programs ignore them.
package control
