package iam_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/api/iam"
)

// TestDocumentedNumberOfOperations compares the number of operations with docs/iam.md.
func TestDocumentedNumberOfOperations(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/iam.md")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%d operations of IAM", len(iam.New(iam.Options{}).Operations()))
	if !strings.Contains(string(page), want) {
		t.Errorf("docs/iam.md does not say %q", want)
	}
}
