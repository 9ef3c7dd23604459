package server

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/proof/eventually"
)

// http2Frame returns a frame of HTTP/2.
func http2Frame(kind, flags byte, stream uint32, payload []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(payload))<<8|uint32(kind))
	b = append(b, flags)
	b = binary.BigEndian.AppendUint32(b, stream)
	return append(b, payload...)
}

// http2Header returns a header in uncompressed HPACK.
func http2Header(fields ...string) []byte {
	var b []byte
	for i := 0; i < len(fields); i += 2 {
		b = append(b, 0, byte(len(fields[i])))
		b = append(b, fields[i]...)
		b = append(b, byte(len(fields[i+1])))
		b = append(b, fields[i+1]...)
	}
	return b
}

// announce opens a connection and starts this many requests that announce a body and send none of it.
func announce(t *testing.T, s *Server, streams int) {
	t.Helper()
	conn, err := tls.Dial("tcp", s.entrance.listener.Addr().String(), &tls.Config{
		InsecureSkipVerify: true, NextProtos: []string{"h2"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	header := http2Header(":method", "POST", ":scheme", "https", ":authority", "h", ":path", "/", "content-length",
		"65536",
		"content-type", "application/x-www-form-urlencoded")
	var b bytes.Buffer
	b.WriteString("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	b.Write(http2Frame(4, 0, 0, nil)) // settings
	for i := range streams {
		b.Write(http2Frame(1, 4, uint32(2*i+1), header))
	}
	if _, err := conn.Write(b.Bytes()); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, conn) }()
}

// Announced bodies cost next to nothing, however many requests clients start on however many connections.
func TestAnnouncedBodiesTakeLittleMemory(t *testing.T) {
	const connections, streams, most = 60, 250, 64 << 20
	dir := t.TempDir()
	pool := apitest.Certificate(t, dir)
	config := inMemory()
	config.TLSCert, config.TLSKey = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	s, _ := start(t, config)
	before := memoryInUse()
	for range connections {
		announce(t, s, streams)
	}
	eventually.Succeeds(t, func() error {
		// Every connection has its maximum of requests under way: they wait for their bodies, each with a buffer.
		if n := s.entrance.front.MemoryInUse(); n < connections*4<<10 {
			return fmt.Errorf("%d bytes are reserved", n)
		}
		return nil
	})
	time.Sleep(200 * time.Millisecond) // for requests that must not be accepted
	if n := memoryInUse() - before; n > most {
		t.Errorf("%d MiB for %d connections of %d requests", n>>20, connections, streams)
	} else {
		t.Logf("%d KiB, of them %d KiB counted, for %d connections of %d requests", n>>10,
			s.entrance.front.MemoryInUse()>>10, connections, streams)
	}

	// Other clients are served meanwhile.
	c := newClient(t, inJSON)
	c.Base, c.Cred = s.Endpoint(), s.Root()
	r := c.Request("CreateQueue", object{"QueueName": "q"})
	c.Sign(r)
	client := &http.Client{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true},
	}
	defer client.CloseIdleConnections()
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK || response.ProtoMajor != 2 {
		t.Errorf("answered %s with %s", response.Status, response.Proto)
	}
}

// memoryInUse returns the size of the live memory, stacks included.
func memoryInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// A client that sends more than the limit still reads the answer, although it reads only after it has sent everything.
func TestTooLongIsAnswered(t *testing.T) {
	t.Parallel()
	const length = 20 << 20
	piece := strings.Repeat("x", 1<<20)
	chunk := fmt.Sprintf("%x\r\n%s\r\n", len(piece), piece)
	for _, tc := range []struct{ name, head, piece, end string }{
		{"announced", fmt.Sprintf("%sContent-Length: %d\r\n\r\n", postJSON, length), piece, ""},
		{"in chunks", chunked, chunk, "0\r\n\r\n"},
	} {
		conn := dial(t, shared)
		_, err := io.WriteString(conn, tc.head)
		for range length / len(piece) {
			if err == nil {
				_, err = io.WriteString(conn, tc.piece)
			}
		}
		if err == nil {
			_, err = io.WriteString(conn, tc.end)
		}
		if err != nil {
			t.Errorf("%s: while sending: %v", tc.name, err)
		}
		in := bufio.NewReader(conn)
		response, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		body, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusRequestEntityTooLarge || !response.Close ||
			!strings.Contains(string(body), "RequestEntityTooLargeException") {
			t.Errorf("%s: %d %s %v, closes %t", tc.name, response.StatusCode, body, err, response.Close)
		}
		if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
			t.Errorf("%s: the connection ends with %v", tc.name, err)
		}
	}
}
