// Package control keeps the control store: the small records that every request
// needs, of queues, of users and of keys. It is the one way to change them and
// the one way to learn of changes.
//
// A change is decided by one caller at a time, made durable with one commit, and then applied by the readers, who keep
// their part of the store in memory: the next request of any caller finds it. On a single node the store commits it. In
// a cluster the store has copies, and only one node at a time owns it and may change it; its commits go to the log that
// all copies follow, and readers learn of their own node's changes as of the others', when the batch has been applied.
// The same code applies them in both cases.
//
// The records are found by the prefixes of their keys:
//
//	directory/   users, groups, roles, their keys and policies: package directory
//	sns/         topics and subscriptions: package topic
//	monitor/     alarms, dashboards and metrics that programs send: package monitor
//	login/       passwords and second factors of users: package login
//	session/     who has signed in to the console: package session
//	signing/     the key that signs messages of topics: package signing
//	tenant/      limits of accounts and users: package tenant
//	identity/    in a cluster the keys of the installation: package identity
//	all others   queues: package catalog
//
// No record has a key that begins with the byte 0 or 255. Package trail keeps the events of calls under
// such keys: they are part of changes, but no reader sees them, and older programs leave
// them alone.
package control
