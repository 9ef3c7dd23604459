// Package syntax is the common part of the query languages of CloudWatch: it divides a text into tokens, lets a parser
// go through them, and reports the place of an error.
//
// A Language defines the tokens. The grammars are in the packages metricmath, metricsearch, insights and alarmrule.
// Dividing a text never fails: a character that begins no token becomes the last token, and a parser refuses it when it
// gets there, like any token that it does not expect.
package syntax
