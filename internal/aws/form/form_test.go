package form_test

import (
	"net/http"
	"testing"

	"github.com/sluicemq/sluice/internal/aws/form"
)

func TestDeclared(t *testing.T) {
	t.Parallel()
	for contentType, want := range map[string]bool{
		form.ContentType: true, "Application/X-WWW-Form-Urlencoded": true, form.ContentType + "; charset=utf-8": true,
		" " + form.ContentType + " ;": true,
		"":                            false, form.ContentType + "X": false, form.ContentType + ",x": false,
		"text/plain": false, "application/x-amz-json-1.0": false,
	} {
		h := http.Header{"Content-Type": {contentType}}
		if got := form.Declared(http.MethodPost, h); got != want {
			t.Errorf("%q: %t", contentType, got)
		}
		if form.Declared(http.MethodGet, h) {
			t.Errorf("%q: a GET is a form", contentType)
		}
	}
	if form.Declared(http.MethodPost, nil) {
		t.Error("no header declares a form")
	}
}
