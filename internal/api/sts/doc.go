// Package sts is the AWS Security Token Service: it says who somebody is, and
// gives temporary keys.
//
// Temporary keys are kept nowhere. The session token has all about the session
// in it, encrypted, so that making keys writes nothing and using them reads
// nothing. They end with their time, and before that with the user or the role
// that they act for.
//
// # What is guaranteed
//
//   - GetCallerIdentity is allowed to everybody who has signed. GetSessionToken
//     needs no permission either, but long-term keys: it gives nobody more than
//     they have.
//   - A role is assumed by nobody whom its trust policy does not let, and a role
//     that does not exist is refused in the same words.
//   - Session policies only ever take away.
package sts
