package console

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/sluicemq/sluice/internal/proof/freeport"
	"github.com/sluicemq/sluice/internal/server"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// A server stops and starts again while pages are open. The test in the browser controls the times.
func TestPagesOfRestart(t *testing.T) {
	installed(t)
	addresses, err := freeport.Take(1)
	if err != nil {
		t.Fatal(err)
	}
	c := server.Default()
	c.Listen, c.Data = addresses[0], t.TempDir()
	s, stop := servertest.Start(t, c)
	control := http.NewServeMux()
	control.HandleFunc("POST /stop", func(w http.ResponseWriter, _ *http.Request) {
		if err := stop(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	control.HandleFunc("POST /start", func(http.ResponseWriter, *http.Request) {
		_, stop = servertest.Start(t, c)
	})
	switches := httptest.NewServer(control)
	t.Cleanup(switches.Close)
	browse(t, s, s.Endpoint(), "test/restart/*.test.mjs", "SLUICE_CONSOLE_CONTROL="+switches.URL)
}
