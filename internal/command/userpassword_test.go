package command_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

// A user gets a password and a second factor, loses both, and can then be deleted.
func TestPasswordsByCommand(t *testing.T) {
	s := serve(t, "--in-memory")
	as(t, s.exports, "")
	ok := func(args ...string) string {
		t.Helper()
		out, _, err := run(t, args...)
		if err != nil {
			t.Errorf("%v: %v", args, err)
		}
		return strings.TrimSpace(out)
	}
	ok("user", "create", "ann")
	for range 2 { // without and with an existing one
		if drawn := ok("user", "password", "ann"); len(drawn) != 20 {
			t.Errorf("the password is %q", drawn)
		}
	}
	ok("user", "password", "ann", "--delete")
	ok("user", "password", "ann", "--keep")
	var device struct{ SerialNumber, Seed, Uri string }
	for range 2 { // an unused one is replaced
		if err := json.Unmarshal([]byte(ok("user", "mfa", "ann", "--json")), &device); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.HasSuffix(device.SerialNumber, ":mfa/ann") ||
		!strings.Contains(device.Uri, "otpauth://totp/Sluice:ann?") || !strings.Contains(device.Uri, device.Seed) {
		t.Errorf("the second factor is %+v", device)
	}
	code := func(ago time.Duration) string { return apitest.Code6(t, device.Seed, time.Now().Add(-ago)) }
	if _, _, err := run(t, "user", "mfa", "ann", code(0)); err == nil {
		t.Error("one code suffices")
	}
	ok("user", "mfa", "ann", code(30*time.Second), code(0))
	if _, _, err := run(t, "user", "mfa", "ann"); err == nil {
		t.Error("an active second factor is replaced")
	}
	ok("user", "mfa", "ann", "--delete")
	ok("user", "mfa", "ann")
	ok("user", "delete", "ann")
	if _, _, err := run(t, "user", "password", "nobody"); err == nil || !strings.Contains(err.Error(), "NoSuchEntity") {
		t.Errorf("a missing user gets a password: %v", err)
	}
}
