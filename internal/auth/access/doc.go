// Package access decides whether a caller may perform an action. It combines the identity of the caller, its own
// policies and the policy of the resource; package policy evaluates them.
//
// # What is guaranteed
//
//   - A change of a policy takes effect with the next request: a parsed policy is cached by its text, never by its
//     owner.
//   - A stored policy that cannot be read admits only the root of the
//     account that owns the resource, who can replace it.
//   - A caller that is neither anonymous nor a root, and that Principals does not know, is refused, even if the
//     resource's policy allows the call.
//   - A caller from outside the owner's account is refused in the same words
//     whether or not the resource exists.
//   - The root of the owner on a resource without a policy, which is nearly every request, is allowed before any other
//     check.
package access
