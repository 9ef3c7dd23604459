// Package jackson describes errors in a JSON text in the words of Jackson, the parser of SNS: clients see them in the
// refusals of policies. It is a pure function of the text.
package jackson
