// Package signin lets people into the console: it answers the few requests below /console/api/, which are the only ones that
// know cookies, and serves CreateSignInLink, an operation of the service "sluice".
//
// Who signs in gets a session (package session) and, for a cookie, temporary keys. Everything else the console asks of the
// public API, and signs with these keys.
//
// # What is guaranteed
//
//   - No page of another origin can use a session: requests that change something, or get keys, need a header that only pages
//     of this origin can send, and the cookie goes with no request of another site.
//
//   - A name that an attacker has pointed at this server (DNS rebinding) gets no answer, unless TLS has proven the name.
//
//   - Secrets are in no answer but the one that they are for, in no log and in no event. A secret key that a person types into
//     the page never leaves it: what comes here is a request that was signed with it, for this host, a moment ago, and it
//     counts once.
//
//   - Each sign-in is an event of CloudTrail in the commit that begins the session. So are failures, as far as one address
//     does not have too many of them.
//
//   - Who comes from an identity provider has begun so in the same browser. They get the role that the operator gives to
//     their group, if the role's trust policy lets the provider's people have it.
//
//   - Who guesses a password is stopped: ten tries lock a user out for a quarter of an hour, fifty an address. Tries count before
//     they are looked at, and an unknown user takes as long as a wrong password. A code of a second factor counts once.
//
// # The requests
//
//	GET    settings        what the page must know before anybody has signed in
//	GET    session         who has signed in; 401 if no person has
//	POST   session         sign in: {"link": TOKEN}, {"signed": {"url", "headers", "body"}} or
//	                       {"password": {"account", "user", "password", "code", "newPassword"}}
//	DELETE session         sign out
//	POST   credentials     keys for a quarter of an hour
//	GET    sessions        the caller's sessions; of a root, those of the whole account
//	DELETE sessions/ID     end one of them
//	GET    oidc            sends the browser to the identity provider,
//	GET    oidc/callback   which sends it here, and from here to the page: signed in, or with a code for what was wrong
//
// All bodies are JSON. An error is {"code", "message"}.
package signin
