package signature

import "time"

// MaxSkew is the maximum difference between the time of a signature and now, in both directions.
const MaxSkew = 15 * time.Minute

// MaxExpires is the maximum time from now to the Expires of a Version 2 request, equal to Version 4's maximum of X-Amz-
// Expires.
const MaxExpires = 7 * 24 * time.Hour

// Limits on the work for an unknown sender.
const (
	maxAuthorization = 8 << 10 // bytes in the Authorization header
	maxCredential    = 512     // bytes in the Credential parameter; the longest known are below 200
	maxSignedHeaders = 100
	maxParameters    = 4096 // in the query string and the form body together; each is sorted
	maxMessage       = 2 << 10
)
