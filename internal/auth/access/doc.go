// Package access decides whether a caller may do what it asks. It brings
// together who the caller is, what its own policies say and what the policy of
// the resource says; package policy says what they mean.
//
// # What is guaranteed
//
//   - A change of a policy counts for the next request: a parsed policy is kept
//     by its text, never by whose it is.
//   - A stored policy that cannot be read admits only the root of the
//     account that owns the resource, who can replace it.
//   - A caller that is neither anonymous nor a root, and that Principals does not know, is refused, even if the
//     resource's policy allows the call.
//   - A caller from outside the owner's account is refused in the same words
//     whether or not the resource exists.
//   - The root of the owner on a resource without a policy, which is nearly
//     every request, is let through before anything else is looked at.
package access
