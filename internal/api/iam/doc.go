// Package iam is the part of AWS Identity and Access Management with which users,
// groups, roles, access keys and policies are administered, and policies tried
// out.
//
// # What is guaranteed
//
//   - Every operation asks for iam:<Operation> on the ARN of what it is about,
//     before it says or does anything. The root of the account may do everything;
//     nobody else may do anything that its policies do not allow.
//   - A change is durable before it is answered, and counts for the next request.
//   - A secret is told once, by CreateAccessKey.
//
// Keys of GetSessionToken and GetFederationToken cannot call it, as on AWS,
// where that takes a second factor.
package iam
