// Package sts serves the AWS Security Token Service: it returns the identity of a caller, and issues temporary keys.
//
// Temporary keys are stored nowhere. The session token contains the whole session,
// encrypted, so that issuing keys writes nothing and using them reads nothing. Keys
// expire with their time, or when the user or role that they act for is deleted.
//
// # What is guaranteed
//
//   - Every caller that signs may call GetCallerIdentity. GetSessionToken needs no
//     permission either, but long-term keys: its keys allow nothing that the caller
//     may not do.
//   - AssumeRoleWithWebIdentity is for callers that do not sign. They show a token of an identity provider that the
//     role's account has registered, and that its trust policy names.
//   - Only callers that the trust policy of a role allows can assume it. A role that
//     does not exist is refused in the same words as one that the caller may not
//     assume.
//   - A session policy only takes permissions away.
package sts
