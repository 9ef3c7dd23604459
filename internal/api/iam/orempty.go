package iam

// orEmpty returns the value of p, or "". Required members are checked against the model before handlers run.
func orEmpty(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}
