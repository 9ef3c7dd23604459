package bucket_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/sluicemq/sluice/internal/bucket"
)

func TestOwners(t *testing.T) {
	t.Parallel()
	accounts := func(a string) bool { return slices.Contains([]string{"111122223333", "444455556666"}, a) }
	for _, wrong := range []string{"", "audit", "audit=", "audit=1", "=111122223333", "Audit=111122223333",
		"audit=777788889999", "a/b=111122223333"} {
		if o, err := bucket.ParseOwners([]string{wrong}, accounts); err == nil {
			t.Errorf("%q: %v", wrong, o)
		}
	}
	owners, err := bucket.ParseOwners([]string{"audit=111122223333", "both=111122223333", "both=444455556666"},
		accounts)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		owners        bucket.Owners
		name, account string
		may           bool
	}{
		{owners, "audit", "111122223333", true},
		{owners, "audit", "444455556666", false},
		{owners, "both", "111122223333", true},
		{owners, "both", "444455556666", true},
		{owners, "other", "111122223333", false},
		{nil, "other", "111122223333", true},
	} {
		if err := c.owners.Check(c.name, c.account); (err == nil) != c.may ||
			err != nil && !errors.Is(err, bucket.ErrDenied) {
			t.Errorf("%s and %s: %v", c.name, c.account, err)
		}
	}
}
