package front

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A certificate is served to every client, even below the path of a public URL. A node catches up before it reports
// that there is none.
func TestCertificate(t *testing.T) {
	const id, late = "0123456789abcdef0123456789abcdef", "00000000000000000000000000000000"
	caughtUp := 0
	f := &Front{prefix: "/aws"}
	f.Certificate = func(asked string) []byte {
		if asked == id || asked == late && caughtUp > 0 {
			return []byte("PEM")
		}
		return nil
	}
	f.catchUps = newPaced(func(context.Context) error { caughtUp++; return nil }, 0)
	for _, c := range []struct {
		path   string
		status int
	}{
		{"/aws/SimpleNotificationService-" + id + ".pem", http.StatusOK},
		{"/SimpleNotificationService-" + id + ".pem", http.StatusOK},
		{"/SimpleNotificationService-" + late + ".pem", http.StatusOK},
		{"/SimpleNotificationService-" + strings.Repeat("f", 32) + ".pem", http.StatusNotFound},
	} {
		w := httptest.NewRecorder()
		if !f.answerPlainly(w, httptest.NewRequest(http.MethodGet, c.path, http.NoBody)) {
			t.Errorf("%s is left to the services", c.path)
		}
		if w.Code != c.status || w.Code == http.StatusOK && w.Body.String() != "PEM" {
			t.Errorf("%s: %d %s", c.path, w.Code, w.Body)
		}
	}
	if caughtUp != 2 {
		t.Errorf("caught up %d times", caughtUp)
	}
}
