// Package jackson says what is wrong with a JSON text in the words of Jackson, the parser that SNS has: clients see
// them in the refusals of policies. It is a pure function of the text.
package jackson
