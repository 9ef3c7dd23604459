package command

import (
	"strings"
	"testing"
)

func TestCheckedText(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	c := checked{[]checkedAction{
		{Action: "sqs:SendMessage", Allowed: true},
		{Action: "sqs:PurgeQueue", Message: "No policy allows it."},
	}}
	if err := c.text(&out); err != nil {
		t.Fatal(err)
	}
	want := "sqs:SendMessage: allowed\nsqs:PurgeQueue: not allowed. No policy allows it.\n"
	if got := out.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
