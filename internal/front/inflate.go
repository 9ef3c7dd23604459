package front

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"strings"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// maxInflated is the maximum size of a compressed body after decompression. SDKs compress only the metrics that
// programs send, and AWS has the same limit.
const maxInflated = 1 << 20

// inflateStep is the amount of memory that is reserved before each step of decompression.
const inflateStep = 64 << 10

// inflate decompresses a body, and returns an uncompressed body unchanged. The signature of a request covers the
// compressed bytes.
func (m *intake) inflate(body []byte) ([]byte, error) {
	if !strings.EqualFold(strings.TrimSpace(m.of.r.Header.Get("Content-Encoding")), "gzip") {
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
			return nil, protocol.BodyTooLong(inflatedSize(body, out.Len()), maxInflated)
		}
	}
}

// inflatedSize returns the size of a body before compression, from its last bytes, and at least the number of bytes
// read.
func inflatedSize(body []byte, read int) int {
	return max(read, int(binary.LittleEndian.Uint32(body[len(body)-4:])))
}

func errNotGzip() *protocol.Error {
	return protocol.InvalidRequest("The header Content-Encoding is gzip, and the body is not compressed by gzip.")
}
