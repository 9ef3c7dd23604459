// Package budget limits requests that read history: metrics, expressions over them, searches, events and the history
// of alarms.
//
// A request states its next step before it takes it: Work counts the samples or records that the step reads or
// computes, and Hold counts the memory that it allocates. Both refuse with an error instead of letting the step begin.
// Four things bound a request:
//
//   - It does at most MaxWork, takes at most MaxTime and ends with the context of its client. The *Excess that refuses
//     it says which bound it met.
//   - All requests together hold no more memory than the Budget has, and one request no more than half of it.
//   - The requests of one account together hold no more than remains free. An account at this limit leaves others as
//     much as it has; two leave a third, three a quarter. ErrBusy refuses requests that do not fit at present.
//   - Of the requests of an account that have done more than Light, only AtOnce work at a time. So an account can keep
//     half of the processors busy, however many requests it sends.
//
// The request travels in its context, so that readers of stored data at the bottom count for the request at the top. A
// context without one has no bounds.
package budget
