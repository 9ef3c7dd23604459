// Package openid authenticates people through an OpenID Connect provider, by the authorization code flow with PKCE, and
// verifies the tokens of providers that programs present.
//
// # What is guaranteed of people
//
//   - A person is identified by an ID token that the provider has issued for this client a few minutes ago, in answer
//     to an attempt that the same browser has begun: its issuer, audience, authorised party, signature, expiry, time of
//     issue and nonce are right. A signature counts if only the provider can have made it: symmetric algorithms and
//     "none" are refused.
//   - Nothing is stored between the two halves of a sign-in. The browser keeps a random [Secret], and state, nonce and
//     PKCE verifier follow from it: an answer of the provider is valid only in the browser that has requested it.
//   - Claims that the ID token lacks come from the provider's UserInfo, if its subject is the same.
//   - A person's name comes from one claim and is not altered, so that two people have the same name only if the
//     provider gives it to both. An e-mail address is a name only if the provider has verified it.
//   - Connections to the provider use TLS, unless it is on this machine. Each request has ten seconds and an answer of
//     at most 512 KiB; redirects are not followed.
//
// # What is guaranteed of programs
//
//   - A token counts if the provider that an account has registered has signed it, by RSA or ECDSA, and its time has
//     not passed. [Keys] fetches nothing for tokens of other providers; callers make their own checks of a token first.
//   - Connections to a provider always use TLS, at addresses that a [Dialer] allows, with a certificate that the system
//     or a registered thumbprint vouches for. Each request has five seconds, and the bounds above.
//   - The number of tokens does not matter: the server asks a provider for its metadata once an hour, or every five
//     seconds while that fails, and for its keys every ten seconds at most. Sixteen tokens of a provider are verified at a time, and the
//     providers of one account do not hold up those of another.
//
// Other text of the provider appears, shortened, in errors for the operator, and never on a page.
package openid
