// Package sqs is the Amazon SQS service: its operations, what they accept and
// what they refuse.
//
// Every operation goes the same way: it resolves what it is about, has package
// access decide whether the caller may do that, and checks its input whole
// before anything is changed. What the engine says is turned into SQS's own
// error codes and words. The package knows neither HTTP nor how messages are
// stored.
//
// The rules and texts are those of the developer guide of 2014 and the FIFO
// pages, and where these are silent of the service as it is today.
package sqs
