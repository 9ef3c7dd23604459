package tenant

import "fmt"

// Refusal names the limit that a request would exceed. Services have their own texts for clients.
type Refusal struct {
	Subject
	Kind  Kind
	Limit int64
}

// Error implements error.
func (r *Refusal) Error() string {
	who := "the account " + r.Account
	if r.User != "" {
		who = "the user " + r.User + " of " + who
	}
	return fmt.Sprintf("%s has a limit of %d for %s", who, r.Limit, r.Kind)
}
