package datadir

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/formats"
)

// TestFormatsAreDocumented compares the formats with the table for operators.
func TestFormatsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/upgrade.md")
	if err != nil {
		t.Fatal(err)
	}
	for format := 1; format <= formats.Newest+1; format++ {
		has := strings.Contains(string(page), fmt.Sprintf("\n| %d | ", format))
		if known := format <= formats.Newest; has != known {
			t.Errorf("docs/upgrade.md has a row for format %d: %t, want %t", format, has, known)
		}
	}
}
