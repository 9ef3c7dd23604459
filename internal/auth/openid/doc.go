// Package openid has people prove who they are to an OpenID Connect provider, by the authorization code flow with PKCE.
//
// # What is guaranteed
//
//   - What counts is an ID token that the provider has issued for this client a few minutes ago, in answer to what this very
//     browser has begun: its issuer, audience, authorised party, signature, expiry, time of issue and nonce are right. A
//     signature counts if only the provider can have made it: symmetric algorithms and "none" are refused.
//   - Nothing is stored between the two halves of a sign-in. The browser keeps a random [Secret], and state, nonce and PKCE
//     verifier follow from it: an answer of the provider is of use in the browser that has asked for it, and in no other.
//   - The claims that the ID token lacks are taken from the provider's UserInfo, if that is about the same subject.
//   - A person's name comes from one claim and is not altered, so that two people have the same only if the provider says
//     so. An e-mail address is a name only if the provider has verified it.
//   - The provider is spoken to by TLS, unless it is on this machine. Each request has ten seconds and an answer of at most
//     512 KiB; redirects are not followed.
//
// What the provider has said besides is in errors for the operator, shortened, and in nothing that a person sees.
package openid
