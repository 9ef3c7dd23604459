// Package login stores the credentials for signing in to the console: passwords, the rules for them, and second
// factors.
//
// # What is guaranteed
//
//   - A password is kept as its Argon2id hash, with 19 MiB of memory, two passes and a salt of its own. At most two are
//     computed at a time, and few wait for their turn: many guesses at once take no memory from others.
//   - A code of a second factor counts once: its time step is recorded in the commit that it has allowed, and no older
//     step is accepted.
//   - The clock of an authenticator may be half a minute off. If it is further off, two successive codes set its
//     offset.
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
