package front

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// Text on a page is escaped, and a link leads to another page.
func TestPageIsText(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	if err := writeLinkPage(w, "id", http.StatusOK, &protocol.Page{
		Title: "<script>alert(1)</script>", Text: []string{`"><img src=x onerror=alert(1)>`},
		Link: `javascript:alert("1")`, LinkTo: "</a><b>",
	}); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script", "<img", "javascript:", "<b>"} {
		if strings.Contains(w.Body.String(), bad) {
			t.Errorf("%q is in %s", bad, w.Body)
		}
	}
	w = httptest.NewRecorder()
	if err := writeLinkPage(w, "id", http.StatusServiceUnavailable, &protocol.Page{
		Title: "Confirmed",
	}); err != nil || w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "Confirmed") {
		t.Errorf("%d %s, %v", w.Code, w.Body, err)
	}
}
