// Package syntax has what the query languages of CloudWatch share: it divides a text into tokens, lets a parser go
// through them, and names the place of an error.
//
// A Language says which tokens there are. The grammars are in the packages metricmath, metricsearch, insights and
// alarmrule. Dividing a text never fails: a character that begins no token becomes the last token, and a parser refuses
// it when it gets there, like any token that it does not expect.
package syntax
