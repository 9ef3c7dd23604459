// Package iam serves the part of AWS Identity and Access Management that
// administers users, groups, roles, access keys, policies and identity providers,
// reports on them, and simulates what policies allow.
//
// # What is guaranteed
//
//   - Every operation needs permission for iam:<Operation> on its ARN, and
//     checks it before it reveals or changes anything. The root of the account
//     may do everything, other callers what their policies allow.
//   - A change is durable before it is answered, and counts for the next request.
//   - CreateAccessKey is the only operation that shows a secret.
//   - A simulation costs a bounded amount of time and memory, and an account has
//     one at a time.
//
// Callers with keys of GetSessionToken or GetFederationToken are refused. On AWS, keys of GetSessionToken with a second
// factor are allowed.
package iam
