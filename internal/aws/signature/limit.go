package signature

import "time"

// MaxSkew is how far the time of a signature may be from now, either way.
const MaxSkew = 15 * time.Minute

// MaxExpires is how far ahead the Expires of a Version 2 request may be, as far as Version 4 lets X-Amz-Expires be.
const MaxExpires = 7 * 24 * time.Hour

// Limits on what a sender can make us do before we know who it is.
const (
	maxAuthorization = 8 << 10 // bytes in the Authorization header
	maxCredential    = 512     // bytes in the Credential parameter; the longest known are below 200
	maxSignedHeaders = 100
	maxParameters    = 4096 // in the query string and the form body together; each is sorted
	maxMessage       = 2 << 10
)
