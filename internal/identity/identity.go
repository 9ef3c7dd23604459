// Package identity says who a request comes from, once its signature has been
// verified. It decides nothing.
package identity

// Identity is an authenticated caller. The zero Identity is nobody.
type Identity struct {
	Account     string // 12 digits
	ARN         string // arn:aws:iam::<account>:root
	UserID      string // what SenderId shows: the account's number for its root
	AccessKeyID string
	Root        bool // the account itself, as opposed to one of its users
}

// Root returns the identity of an account.
func Root(account, accessKeyID string) Identity {
	return Identity{
		Account: account, ARN: "arn:aws:iam::" + account + ":root", UserID: account,
		AccessKeyID: accessKeyID, Root: true,
	}
}

// IsAccount reports whether s is an account number: 12 digits.
func IsAccount(s string) bool {
	if len(s) != 12 {
		return false
	}
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
