// Package sqs is the Amazon SQS service: its operations, what they accept and
// what they refuse.
//
// It checks every input whole before anything is changed, decides with an
// Authorizer whether the caller may do what it asks, and turns what the engine
// says into SQS's own error codes and words. It knows neither HTTP nor how
// messages are stored.
//
// The rules and texts are those of the developer guide of 2014 and the FIFO
// pages, and where these are silent of the service as it is today.
package sqs
