package front

import (
	"context"
	"net/http"
)

// certificate answers with a certificate that signs messages of topics. The subscriber of such a message requests it,
// without a signature. A node that lags catches up before it answers that the certificate does not exist.
func (f *Front) certificate(w http.ResponseWriter, r *http.Request, id string) {
	pem := f.Certificate(id)
	if pem == nil {
		ctx, cancel := context.WithTimeout(r.Context(), catchUpTimeout)
		defer cancel()
		if err := f.catchUps.do(ctx); err != nil {
			http.Error(w, "This node does not know whether the certificate exists. Try again.", http.StatusServiceUnavailable)
			return
		}
		pem = f.Certificate(id)
	}
	if pem == nil {
		http.Error(w, "There is no such certificate.", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/x-pem-file")
	w.Header().Set("Cache-Control", "public, max-age=86400, immutable") // the name is the certificate's hash
	_, _ = w.Write(pem)                                                 // a client that has left needs no answer
}
