package upgrade

import "fmt"

// Limit is a user's limit of sends per second.
type Limit struct {
	User  string
	Sends int64
}

// account is the first account of a server.
const account = "000000000000"

// limits limits a user.
func (f *filler) limits() error {
	l := Limit{User: "ann", Sends: 1_000_000}
	if err := f.Sluice(f.ctx, "SetLimits", map[string]any{
		"AccountId": account, "UserName": l.User, "Limits": map[string]int64{"SendsPerSecond": l.Sends},
	}, nil); err != nil {
		return err
	}
	f.content.Limits = append(f.content.Limits, l)
	return nil
}

// limit checks the limit of a user.
func (k *checker) limit(l Limit) error {
	var found struct{ Limits map[string]int64 }
	if err := k.Sluice(
		k.ctx, "GetLimits", map[string]string{"AccountId": account, "UserName": l.User}, &found,
	); err != nil {
		return err
	}
	if got := found.Limits["SendsPerSecond"]; got != l.Sends {
		return fmt.Errorf("user %s is limited to %d sends per second, not to %d", l.User, got, l.Sends)
	}
	return nil
}
