// Package policy reads and evaluates the access policy language: the policies
// of queues, of IAM's users, groups and roles, of sessions, and of roles about
// who may assume them. It is a pure function of policies and the facts of a
// request; it knows neither HTTP nor where policies are kept, and the time is
// one of the facts.
//
//	p, err := policy.ParseResource(text, rules)        // when it is set
//	p, err := policy.Parse(policy.ForResource, text)      // when it is loaded
//	…
//	d := policy.Decide(request)                           // for each request
//	if !d.Allowed() {
//		return errors.New(d.Message(request))
//	}
//
// [Parse] compiles; a [Policy] is immutable and can be shared freely. [Decide]
// is fast and returns the deciding statement. [Explain] evaluates the same
// statements again, and reports for each whether it applied; [Trace.Reason]
// explains why.
//
// # What is guaranteed
//
//   - Nothing is allowed unless a statement allows it or the account owns the
//     resource. The zero [Decision] is a refusal, the zero [Caller] anonymous.
//   - A Deny that applies wins, wherever it stands. The order of statements and
//     of policies means nothing; another Deny never allows more.
//   - A policy is evaluated for the use that it was parsed for, or not at all:
//     [Decide] panics otherwise.
//   - A document that is accepted is understood whole. Unknown elements,
//     operators, kinds of principals, and names that appear twice are refused,
//     with line, column and reason.
//   - Values of a request are never read as patterns: a user whose name is * does not widen a Resource with
//     ${aws:username}.
//   - No policy and no request make a decision cost more than some milliseconds and megabytes: comparisons have a
//     budget, and values a length up to which they are compared ([MaxFact], [MaxFactList]). A longer value makes no
//     Allow match and no Deny fail to match.
//   - A fact that a request does not have is absent, never empty or zero. The result of a comparison with an absent
//     fact is AWS's rule for the operator.
//
// # Who may do what
//
// An explicit deny in any policy refuses. Beyond that, for a caller of the
// account that owns the resource, its identity policies or the resource's policy
// is enough; a policy that names the account only leaves it to the account's own
// policies. A caller of another account needs both. Boundary and session
// policies limit what identity policies give, and what a resource's policy gives to
// the role or user behind a session, or to everyone; they do not limit what it
// gives to a user or a session by its own ARN. (AWS does not say what becomes of
// everyone; this is the narrower reading.) The root of the owning account may do
// everything that the resource's policy does not deny, and always what
// [Rules].Repair lists.
//
// # Sources
//
// The Amazon SQS Developer Guide of 2014: "Understanding Permissions", "Evaluation
// Logic", "Amazon SQS Policy Examples", "Special Information for Amazon SQS
// Policies", "Access Control Using AWS Identity and Access Management", "Amazon
// SQS Keys". Where it is silent or has been overtaken, the IAM User Guide:
// "Grammar of the IAM JSON policy language", "IAM JSON policy elements" (Principal,
// NotPrincipal, Condition, Condition operators, Variables and tags), "Conditions
// with multiple context keys or values", "AWS global condition context keys",
// "Policy evaluation logic".
//
// Departures: the guide calls names of keys case-sensitive and prints them in two
// ways; here, as in IAM, their case does not matter. The guide reserves
// AddPermission to the account; here, as in today's SQS, it is an action like
// others of the owner's account. Its old form of a resource, account/queue, is
// accepted in the policies of queues.
package policy
