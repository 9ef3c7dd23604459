// Package keyservice lets a key service seal the keys of a ring: AWS KMS, the transit engine of HashiCorp Vault and
// OpenBao, Google Cloud KMS, or Azure Key Vault.
//
// # What is guaranteed
//
//   - A key reaches the service only over TLS, unless the operator's own URL begins with http.
//   - Each call ends after at most half a minute. If the service does not answer, or not as expected, the error is
//     keyring.ErrNoAnswer; if it refuses, the error is the reason.
//   - Credentials go only to the service that they are for: redirects are not followed.
//
// # Why not the services' libraries
//
// Two calls of each service are needed, to seal and to open. The libraries of the four services, or gocloud.dev/secrets
// with these below it, would make up a third of the program. The calls are documented, stable JSON over HTTP, so each
// takes a page here. AWS's signature and credentials come from the SDK, which is needed anyway, and so is the library
// for OAuth. The URLs are those of gocloud.dev/secrets.
//
// A server calls the service once a minute, and a token may be short-lived, so tokens are not cached.
package keyservice
