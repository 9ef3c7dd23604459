// Package login keeps what users sign in to the console with: passwords, the rules for them, and second factors.
//
// # What is guaranteed
//
//   - A password is kept as its Argon2id hash, with 19 MiB of memory, two passes and a salt of its own. At most two are
//     computed at a time, and few wait for their turn: many who guess take no memory from others.
//   - A code of a second factor counts once: the time step that it was made for is remembered in the commit of what it
//     has allowed, and no older one is taken.
//   - The clock of an authenticator may be half a minute off. Two codes of one that is further off make its time count.
//   - The seed of a second factor is encrypted under the master key, and shown once.
//
// Records are in the control store, as JSON:
//
//	login/profile/USER-ID        a Profile
//	login/device/ACCOUNT/NAME    a Device
//	login/rules/ACCOUNT          Rules
//
// Programs that are older than this package cannot read them: they need the format formats.SignIn.
package login
