package iam

// orEmpty returns what p points to, or "". The model has required members checked before handlers run.
func orEmpty(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}
