// Package logfile encodes the files of trails: those with events, and the digests that prove that no event was changed.
// It is pure: no clock, no file, no socket.
//
// A file of events is one JSON text, {"Records":[...]}, compressed by gzip. A digest names the files that were
// delivered in an hour with their SHA-256, and the digest before it with its signature. The digest is signed, so that a
// holder of the public key and the newest digest can detect whether any earlier file was changed, added or removed. The
// formats are AWS CloudTrail's, and `aws cloudtrail validate-logs` reads them.
package logfile

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"time"
)

// Root follows a trail's prefix in the keys of all files.
const Root = "AWSLogs"

// Times in names.
const (
	minutes = "20060102T1504Z"
	seconds = "20060102T150405Z"
	days    = "2006/01/02"
)

// Name returns the key of a file with events of an account in a region. unique distinguishes it from others of that
// minute: 16 letters and digits.
func Name(prefix, account, region string, at time.Time, unique string) string {
	at = at.UTC()
	return fmt.Sprintf("%s"+Root+"/%s/CloudTrail/%s/%s/%s_CloudTrail_%s_%s_%s.json.gz",
		folder(prefix), account, region, at.Format(days), account, region, at.Format(minutes), unique)
}

// DigestName returns the key of the digest of a trail for the files of a region, up to end.
func DigestName(prefix, account, region, trail, home string, end time.Time) string {
	return fmt.Sprintf("%s%s/%s_CloudTrail-Digest_%s_%s_%s_%s.json.gz", DigestFolder(prefix, account, region),
		end.UTC().Format(days), account, region, trail, home, end.UTC().Format(seconds))
}

// DigestFolder returns the prefix of the keys of all digests of a region, with a slash at its end.
func DigestFolder(prefix, account, region string) string {
	return fmt.Sprintf("%s"+Root+"/%s/CloudTrail-Digest/%s/", folder(prefix), account, region)
}

func folder(prefix string) string {
	if prefix == "" {
		return ""
	}
	return prefix + "/"
}

// Encode returns a file with these events, each of which is JSON, and the hash of its contents.
func Encode(events [][]byte) (file []byte, hash string) {
	var text bytes.Buffer
	text.WriteString(`{"Records":[`)
	for i, e := range events {
		if i > 0 {
			text.WriteByte(',')
		}
		text.Write(e)
	}
	text.WriteString("]}")
	return compress(text.Bytes()), Hash(text.Bytes())
}

// Hash returns the SHA-256 of a text in the form of digests.
func Hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func compress(text []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(text); err != nil {
		panic(err) // a buffer accepts everything
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// maxText is the maximum size of a file's text that Decompress reads.
const maxText = 256 << 20

// Decompress returns the contents of a file.
func Decompress(file []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		return nil, fmt.Errorf("it is not compressed by gzip: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(r, maxText+1))
	if err != nil {
		return nil, fmt.Errorf("it cannot be decompressed: %w", err)
	}
	if len(text) > maxText {
		return nil, fmt.Errorf("it holds more than %d bytes", maxText)
	}
	return text, nil
}
