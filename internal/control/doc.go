// Package control keeps the control store: the small records that every request needs, of queues, of users and of
// keys. It is the one way to change them and the one way to learn of changes.
//
// A change is decided by one caller at a time, made durable with one commit, and then applied by the readers, who keep
// their part of the store in memory: the next request of any caller finds it. On a single node the store commits it. In
// a cluster the store has copies, and only one node at a time owns it and may change it; its commits go to the log that
// all copies follow, and readers learn of their own node's changes as of the others', when the batch has been applied.
// The same code applies them in both cases.
//
// # Tables
//
// A kind of record is a declaration: a [Table] says where its records are, how they are read and written, and which
// format of data directories they need. A [Set] has the tables below one prefix. It is the [Reader] of nearly all
// packages:
//
//   - It keeps the rows in memory, behind one lock, and shows those of one commit at a time.
//   - It waits with the first record until every program can read it, and has the format written down; see [Formats].
//   - It calls the [Hook]s of a table for what is derived from the rows, such as another way to find a record. They
//     run where the rows are: on a new set of rows, without a lock, when all records are read, and under the lock
//     after a change.
//   - [Check] reads the same tables for the doctor, and reports each record that cannot be read.
//
// A package adds around its Set what a Set does not offer: package catalog calls watchers without a lock, and package
// monitor has a format that only some records of a table need. Package identity reads its few records itself: the
// first of them opens the others, and never changes.
//
// The prefixes are:
//
//	directory/   users, groups, roles, their keys and policies: package directory
//	sns/         topics and subscriptions: package topic
//	monitor/     alarms, dashboards and metrics that programs send: package monitor
//	cloudtrail/  trails and the keys that sign their digests: package trails
//	login/       passwords and second factors of users: package login
//	session/     who has signed in to the console: package session
//	signing/     the key that signs messages of topics: package signing
//	encryption/  ids of the keys that messages are encrypted under: package encryption
//	tenant/      limits of accounts and users: package tenant
//	identity/    in a cluster the keys of the installation: package identity
//	all others   queues: package catalog
//
// No record has a key that begins with the byte 0 or 255. Package trail keeps the events of calls under
// such keys: they are part of changes, but no reader sees them, and older programs leave
// them alone.
package control
