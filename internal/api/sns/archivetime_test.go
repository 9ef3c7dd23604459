package sns

import (
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/topic"
)

// An archive begins when it was requested, and later as many days ago as it keeps messages.
func TestBeginningArchiveTime(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for days, want := range map[int]string{10: "2026-01-01T12:00:00.000Z", 40: "2026-01-11T12:00:00.000Z"} {
		out := make(map[string]string)
		describeArchive(out, &topic.Attributes{ArchiveDays: 30, ArchivedSince: since}, since.AddDate(0, 0, days))
		if got := out[attrArchiveBegin]; got != want {
			t.Errorf("after %d days: %s", days, got)
		}
	}
}
