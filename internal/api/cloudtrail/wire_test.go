package cloudtrail_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	service "github.com/sluicemq/sluice/internal/api/cloudtrail"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// CloudTrail has never spoken Query. A header with the code that an error has there would have the SDK for Python call
// AccessDeniedException AccessDenied.
func TestErrorsHaveNoQueryCode(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	in := &protocol.Request{Kind: protocol.JSON, ContentType: "application/x-amz-json-1.1"}
	if err := protocol.WriteError(w, service.New(service.Options{}), in, "id", protocol.AccessDenied("no")); err != nil {
		t.Fatal(err)
	}
	if got := w.Header().Values("X-Amzn-Query-Error"); len(got) > 0 || !strings.Contains(w.Body.String(), "#AccessDeniedException") {
		t.Errorf("the header is %q, the answer %s", got, w.Body)
	}
}
