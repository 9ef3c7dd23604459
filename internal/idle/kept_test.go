package idle

import (
	"testing"

	"github.com/sluicemq/sluice/internal/declared"
)

func TestTagOfApply(t *testing.T) {
	if appliedBy != declared.AppliedBy {
		t.Errorf("apply writes the tag %s, and the sweeper reads %s", declared.AppliedBy, appliedBy)
	}
}
