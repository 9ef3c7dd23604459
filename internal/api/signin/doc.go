// Package signin lets people into the console: it answers the few requests below /console/api/, which are the only ones
// that know cookies, and serves CreateSignInLink, an operation of the service "sluice".
//
// A user who signs in gets a session (package session) and, in exchange for a cookie, temporary keys. The console uses
// the public API for everything else, and signs its requests with these keys.
//
// # What is guaranteed
//
//   - No page of another origin can use a session: requests that change something, or get keys, need a header that only
//     pages of this origin can send, and the cookie goes with no request of another site.
//
//   - A name that an attacker has pointed at this server (DNS rebinding) gets no answer, unless TLS has proven the
//     name.
//
//   - Secrets appear in no log, in no event, and only in the answers that are meant to carry them. A secret key that a
//     user types into the page never leaves it: the page sends a request that it has just signed with the key for this
//     host. That request is accepted only once.
//
//   - Each sign-in is an event of CloudTrail in the commit that begins the session. So are failures, unless one address
//     has too many of them.
//
//   - A user who comes from an identity provider must have begun the attempt in the same browser. Such a user gets the
//     role that the operator gives to their group, if the trust policy of the role admits users of the provider.
//
//   - Guessing passwords is stopped: ten attempts lock a user out for a quarter of an hour, fifty an address. Attempts
//     are counted before the password is checked, and an unknown user takes as long as a wrong password. A code of a
//     second factor is valid once.
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
