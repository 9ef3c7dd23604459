// Package filter parses the filter policies of SNS subscriptions and decides which messages they accept. It is a pure
// function of a policy and a message; it knows neither topics nor where policies are kept.
//
//	p, err := filter.Parse(text, filter.MessageBody)     // when the policy is set, and when it is loaded
//	m := filter.NewMessage(body, attributes)             // once for each publish
//	if p.Matches(m) { … }                                // for each subscription
//
// [Parse] compiles a [Policy], which is immutable and safe for concurrent use. A [Message] belongs to one goroutine: it
// parses its body when the first policy needs it, and keeps the result for the next.
//
// # What is guaranteed
//
//   - A policy that is accepted is understood whole. Unknown operators, operands of the wrong type and names that
//     appear twice are refused in AWS's words, with the place.
//   - The time of a match is bounded by the limits of a policy (150 combinations, 5 keys) times the size of the
//     message, and wildcards cost no more than a search for each piece between them. Nothing recurses as deeply as a
//     body may nest, except through arrays within arrays, which encoding/json bounds.
//   - A message whose body is not a JSON object passes no policy of scope MessageBody, and one without attributes
//     passes no policy of scope MessageAttributes, not even exists: false.
//
// # What is compared
//
// A key of a policy is a path: its name and those of the objects around it, with dots between them. A body has the same
// paths. It makes no difference whether objects or dots were written: {"a": {"b": ["x"]}} and {"a.b": ["x"]} are one
// policy. The name of an attribute is a path, too, with all of its dots.
//
// The values of a path are scalars: of an attribute its value, or the elements of a String.Array; of a body the value
// at the path, or the elements of an array, arrays within it included. A key matches if one of its conditions matches
// one of its values. So anything-but matches ["a", "b"] if it excludes only "a". A path without any scalar (absent, an
// object, an empty array) matches exists: false only. exists: true asks for a value other than null and "". The name
// $or begins alternatives if it has a list with at least two objects, none of which has the name of an operator;
// otherwise it is a name like others. In a body, keys under the same array must match in the same element. Attributes
// of type Binary are ignored.
//
// Strings are compared by their bytes, numbers as decimals with five digits after the point. A number without numeric
// also matches one that is written the same, which is how integers beyond 10⁹ are compared. An attribute of type String
// never matches a number, true, false or null.
//
// # Sources
//
// The Amazon SNS Developer Guide: "Message filtering", "Filter policy constraints", "String value matching", "Numeric
// value matching", "Key matching", "AND/OR logic".
package filter
