package series

import "fmt"

// Quota limits how many things of a kind an account can have.
type Quota struct {
	Of      string // the kind, in the plural
	Region  int    // the maximum in a region of an account
	Account int    // the maximum in all its regions together: clients may make up regions
}

// Allow returns nil if there may be one more than a region and its account have, or a QuotaError.
func (q Quota) Allow(region, account int) error {
	switch {
	case region >= q.Region:
		return QuotaError{Quota: q}
	case account >= q.Account:
		return QuotaError{Quota: q, InAll: true}
	}
	return nil
}

// QuotaError refuses one more than a quota allows. Two of the same quota and limit are equal.
type QuotaError struct {
	Quota Quota
	InAll bool // it is the limit of all regions together
}

func (e QuotaError) Error() string {
	if e.InAll {
		return fmt.Sprintf("an account can have at most %d %s in all regions together", e.Quota.Account, e.Quota.Of)
	}
	return fmt.Sprintf("a region of an account can have at most %d %s", e.Quota.Region, e.Quota.Of)
}

// CountIn returns how many keys are of a region of an account, and how many of all regions of the account.
func CountIn[K comparable, V any](all map[K]V, of func(K) Scope, in Scope) (region, account int) {
	for k := range all {
		scope := of(k)
		if scope == in {
			region++
		}
		if scope.Account == in.Account {
			account++
		}
	}
	return region, account
}
