// Package service is what the AWS services of this server have in common: who calls, whether the caller may, the words
// of refusals, pages of long lists, tags, and how much of what a client sent is repeated to it. Each service is a
// package of its own beside this one and does not know the others.
//
// # A new service
//
// A package internal/api/NAME serves the AWS service of that name:
//
//   - New(Options) declares the wire identity with protocol.NewService and registers each operation with
//     protocol.Register: two structs and a handler. An operation that AWS has and this server lacks goes into the list
//     that protocol.Service.Unsupported takes: a client that calls it gets an error that says so. limits_test.go at the
//     root compares the names with those of AWS's SDK. Of the outputs without members, protocol.EmptyResult marks those
//     that AWS's model has as an empty structure.
//   - Every text and list of an input struct has its limit in a tag, and is checked before the handler runs.
//     Constraints of the service's model other than lengths are checked with protocol.Violations.
//   - Each call leaves an event in package trail, with its parameters. The option protocol.Data keeps those out that
//     are about messages and the like, and the tag hidden the value of a field that holds a secret. A handler that
//     changes records passes its context on to Change, so that the event is part of the change.
//   - A policy.Rules value names the service's actions. One Authorizer, made of it, decides about every request: a
//     handler calls Authorize before it says or changes anything about what the request names, so that a caller who may
//     not gets the same answer whether that exists or not. RulesOf lists the actions for warnings: WarnOfPolicy notes
//     in the log what in an accepted policy has no effect.
//   - Errors that the service's model has are made with Modelled; the package keeps them in one file, errors.go.
//     Failure translates the refusals of storage, DocumentError those of package policy. Text from a client is repeated
//     through Shorten only.
//   - An error that tells a client that something does not exist is recognised by SaysAbsent, by its status or by its
//     field Absent: a node of a cluster that lags catches up and asks once more before it says so.
//   - Lists come in pages: Paginate cuts one out of a sorted list. The bounds, the names of the parameters and the
//     words of errors differ from service to service and stay there. Tag, TagMap and TagList are for services that
//     write tags as lists, which are all but SQS.
//   - Tests start a server and use package apitest: Client calls both protocols, Story the Query protocol alone, Actor
//     has the clients of AWS's SDK. They live in the service's own directory.
//
// The server builds the service in internal/server and hands its wire form to the HTTP front. Nothing else has to know
// it.
package service
