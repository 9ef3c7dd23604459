// Package session keeps the sessions of people who use the console: who has signed in, how, and until when.
//
// A browser holds a token, which the server knows by its hash alone, and gets for it temporary keys that are good for a
// quarter of an hour. A session stands for a user, a role or the root of an account. It has no rights of its own: the
// policies of that identity decide each time what its keys may do.
//
// # What is guaranteed
//
//   - A session ends after 12 hours at most, when it was not used for a while (Options.Idle), when a person ends it,
//     and when what it stands for is deleted: the account, the user, the role, or the access key or the password that
//     it was begun with. Its keys end in the same moment: they carry the session's name, and are looked up with each
//     request.
//   - The session of a person whom an identity provider vouches for lasts no longer than the role allows, and ends when
//     the role is for others: its trust policy is changed, or the operator gives the role to the person's group no
//     more.
//   - A link to sign in is good for one session, for ten minutes, and only while the key lives that it was made with.
//     Of two browsers that use the same link at the same time, one gets a session.
//   - So is a signed request that proves who a person is, and an answer of an identity provider: a program that reads
//     it later cannot begin a session with it.
//   - Sessions, links and such requests are few: of each who signs in at most MaxSessions and MaxLinks are kept; those
//     who have assumed the same role count as one, unless a provider tells them apart. Those whose time is over are
//     removed when the next session begins.
//
// Records are in the control store, as JSON:
//
//	session/browser/HASH   a Session; HASH is of its token
//	session/link/HASH      a Link, likewise
//	session/proof/HASH     when a signed request or an answer of a provider that was used is too old to be used again
//
// Programs that are older than this package cannot read them: they need the format formats.SignIn.
package session
