// Package service is what the AWS services of this server have in common: who calls, whether the caller may, the words of
// refusals, pages of long lists, tags, and how much of what a client sent is repeated to it. Each service is a package of
// its own beside this one and does not know the others.
//
// # A new service
//
// A package internal/api/NAME serves the AWS service of that name:
//
//   - New(Options) declares the wire identity with protocol.NewService and registers each operation with
//     protocol.Register: two structs and a handler. An operation that AWS has and this server has not goes into the list
//     that protocol.Service.Unsupported takes, so that a client is told which of the two is the reason.
//   - Every text and list of an input struct has its limit in a tag, and is checked before the handler runs. What the
//     model of the service says beyond lengths is checked with protocol.Violations.
//   - A policy.Rules value names the service's actions. One Authorizer, made of it, decides about every request:
//     a handler calls Authorize before it says or changes anything about what the request names, so that a caller who
//     may not is told the same whether that exists or not.
//   - Errors that the service's model has are made with Modelled; the package keeps them in one file, errors.go. Failure
//     translates what storage refuses. Whatever a client sent is repeated through Shorten only.
//   - An error that tells a client that something does not exist is recognised by SaysAbsent, by its status or by its
//     field Absent: a node of a cluster that lags catches up and asks once more before it says so.
//   - Lists come in pages: Paginate cuts one out of a sorted list. The bounds, the names of the parameters and the words
//     of errors differ from service to service and stay there.
//
// The server builds the service in internal/server and hands its wire form to the HTTP front. Nothing else has to know it.
package service
