package front

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// maxInflated is how long a body that came compressed may be. SDKs compress only what programs send as metrics, of
// which AWS takes as much.
const maxInflated = 1 << 20

// inflateStep is how much memory is taken at a time, before so much is inflated.
const inflateStep = 64 << 10

// inflate returns a compressed body uncompressed, and other bodies as they are. The signature of a request covers the
// compressed bytes.
func (m *intake) inflate(body []byte) ([]byte, error) {
	if !strings.EqualFold(strings.TrimSpace(m.from.r.Header.Get("Content-Encoding")), "gzip") {
		return body, nil
	}
	from, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, errNotGzip()
	}
	var out bytes.Buffer
	for {
		if err := m.reserve(inflateStep); err != nil {
			return nil, err
		}
		switch _, err := io.CopyN(&out, from, inflateStep); {
		case errors.Is(err, io.EOF):
			return out.Bytes(), nil
		case err != nil:
			return nil, errNotGzip()
		case out.Len() > maxInflated:
			return nil, protocol.RequestEntityTooLarge(maxInflated)
		}
	}
}

func errNotGzip() *protocol.Error {
	return protocol.InvalidRequest("The header Content-Encoding says that the body is compressed by gzip, and it is not.")
}
