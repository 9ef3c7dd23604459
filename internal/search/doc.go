// Package search selects the messages that a person is looking for: it parses a filter, a line of text, and decides
// about one message after the other. It has no state, no clock and no file, and executes no input as code.
//
// A filter is a list of terms with spaces between them; a message is found if all of them hold. An empty filter finds
// all.
//
//	word  "two words"          the text is in the body, an attribute's value or the group, in any case, or is the message id;
//	                           in a body that is JSON also where it is written with escapes, as \u00eb
//	-term                      the term does not hold
//	attr.NAME:value            a message attribute has the value; attr.NAME>5 compares numbers
//	body.path.to:value         the body is JSON and has the value there; body.path.to>5 compares numbers
//	                           a step of the path is a name, a "name in quotes", an index of a list, or * for any
//	sent>2026-11-01            sent, first (received) before or after a day, or a time such as 2026-11-01T08:30:00Z
//	age>2h                     how long ago the message was sent: s, m, h, d
//	count>=3                   how often it was received
//	size>10k                   its bytes, attributes included: k, m
//	id:x group:x dedup:x       fields of the message
//	sender:x source:x          who sent it; the ARN of the queue whose dead letter it is
//
// After a colon the value is the whole text, in which case matters; an asterisk before or behind it stands for any
// text, and alone it matches any value. In quotes only \" and \\ are special.
package search
