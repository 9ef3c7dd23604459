// Package session stores the sessions of people who use the console: who has signed in, how, and until when.
//
// A browser holds a token, of which the server stores only the hash, and exchanges it for temporary keys that are valid
// for a quarter of an hour. A session represents a user, a role or the root of an account. It has no permissions of its
// own: the policies of that identity decide about each request with its keys.
//
// # What is guaranteed
//
//   - A session ends after 12 hours at most, when it was not used for a while (Options.Idle), when a person ends it,
//     and when its identity or its credential is deleted: the account, the user, the role, or the access key or the
//     password that it was begun with. Its keys end at the same moment: they carry the session's name, which is looked
//     up with each request.
//   - The session of a person whom an identity provider vouches for lasts no longer than the role allows, and ends when
//     the person loses the role: its trust policy is changed, or the operator no longer gives the role to the person's
//     group.
//   - A link to sign in is valid for one session, for ten minutes, and only while the key that it was made with exists.
//     Of two browsers that use the same link at the same time, one gets a session.
//   - The same holds for a signed request that proves a person's identity, and for an answer of an identity provider: a
//     program that reads it later cannot begin a session with it.
//   - The numbers of sessions, links and such requests are bounded: at most MaxSessions and MaxLinks are kept for each
//     identity. People who have assumed the same role count as one identity, unless a provider distinguishes them.
//     Expired ones are removed when the next session begins.
//
// Records are in the control store, as JSON:
//
//	session/browser/HASH   a Session; HASH is of its token
//	session/link/HASH      a Link, likewise
//	session/proof/HASH     when a signed request or an answer of a provider that was used is too old to be used again
//
// Programs that are older than this package cannot read them: they need the format formats.SignIn.
package session
