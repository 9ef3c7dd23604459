// Package email delivers messages of topics as mail, through a relay that the operator names.
//
// With the protocol email, a person gets the text with a link that ends the subscription; with email-json, a program
// gets the envelope. Text that users choose, such as a subject or the display name of a topic, cannot add a line to a
// mail's header nor a recipient. The connection to the relay is encrypted, unless the relay is on this machine; the
// password is never sent over an unencrypted one.
package email
