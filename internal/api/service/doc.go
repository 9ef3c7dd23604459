// Package service has the common parts of this server's AWS services: the caller and its permissions, the texts of
// refusals, pages of long lists, tags, and limits for client texts in answers. Each service is a separate package and
// does not know the others.
//
// # A new service
//
// A package internal/api/NAME serves the AWS service of that name:
//
//   - New(Options) declares the wire identity with protocol.NewService and registers each operation with
//     protocol.Register: two structs and a handler. An operation that AWS has and this server lacks goes into the list
//     for protocol.Service.Unsupported: a client that calls it gets an error that says so. limits_test.go at the root
//     compares the names with AWS's SDK. protocol.EmptyResult marks an output without members if AWS's model has it as
//     an empty structure.
//   - Every text and list of an input struct has its limit in a tag, and is checked before the handler runs.
//     Constraints of the service's model other than lengths are checked with protocol.Violations.
//   - Each call leaves an event in package trail, with its parameters. The option protocol.Data excludes operations on
//     messages and similar data, and the tag hidden excludes the value of a field that holds a secret. A handler that
//     changes records passes its context on to Change, so that the event is part of the change.
//   - A policy.Rules value names the service's actions. One Authorizer, made from it, decides about every request: a
//     handler calls Authorize before it reveals or changes anything about the resource, so an unauthorized caller gets
//     the same answer whether or not the resource exists. RulesOf lists the actions for warnings: WarnOfPolicy logs
//     which parts of an accepted policy have no effect.
//   - Errors that the service's model has are made with Modelled; the package keeps them in one file, errors.go.
//     Failure translates the refusals of storage, DocumentError those of package policy. Text from a client is repeated
//     through Shorten only.
//   - SaysAbsent recognises an error that something does not exist, by its status or by its field Absent: a node of a
//     cluster that lags catches up and tries once more before it returns such an error.
//   - Lists come in pages: Paginate cuts one out of a sorted list. The bounds, the names of the parameters and the
//     words of errors differ from service to service and stay there. Tag, TagMap and TagList are for services that
//     write tags as lists, which are all but SQS.
//   - Tests start a server and use package apitest: Client calls both protocols, Story the Query protocol alone, Actor
//     has the clients of AWS's SDK. They live in the service's own directory.
//
// internal/server creates the service and passes its wire form to the HTTP front. No other package needs to know it.
package service
