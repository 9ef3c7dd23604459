package signature

import (
	"errors"
	"strings"
	"testing"
)

func benchmark(b *testing.B, r *Request, secret string, want Kind) {
	var v Verifier
	v.Verify(r, testTime, testLookup)
	b.ReportAllocs()
	for b.Loop() {
		_, err := v.Verify(r, testTime, func(string) (string, bool) { return secret, secret != "" })
		if e, ok := errors.AsType[*Error](err); ok && e.Kind != want || !ok && want != 0 {
			b.Fatal(err)
		}
	}
}

// These measure what verification adds to a request. Nearly all of it is SHA-256: of the body, of some 400 bytes of
// canonical request, and of the string to sign.
func BenchmarkHeader(b *testing.B) {
	for _, body := range []struct {
		name string
		size int
	}{{"0B", 0}, {"1KiB", 1 << 10}, {"256KiB", 256 << 10}} {
		b.Run(body.name, func(b *testing.B) {
			b.SetBytes(int64(body.size))
			benchmark(b, signedPost(b, strings.Repeat("x", body.size)), testSecret, 0)
		})
	}
}

func BenchmarkHeaderParallel(b *testing.B) {
	var v Verifier
	r := signedPost(b, strings.Repeat("x", 1<<10))
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := v.Verify(r, testTime, testLookup); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkPresigned(b *testing.B) {
	benchmark(b, newSigner(testTime).presign(b, get("Action=ReceiveMessage&Version=2012-11-05")), testSecret, 0)
}

func BenchmarkVersion2(b *testing.B) {
	r := request2("POST", params2+"&Signature=GvRmjdSuMUdj%2F3gFnXhf7w0Q1aVb0rFKuifAXj4pXfU%3D")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := verify2(r, expires2); err != nil {
			b.Fatal(err)
		}
	}
}

// An unknown key should cost as much as a wrong signature.
func BenchmarkRefused(b *testing.B) {
	r := signedPost(b, strings.Repeat("x", 1<<10))
	b.Run("unknown key", func(b *testing.B) { benchmark(b, r, "", UnknownKey) })
	b.Run("another secret", func(b *testing.B) { benchmark(b, r, "wrong", SignatureMismatch) })
	b.Run("another body", func(b *testing.B) {
		var v Verifier
		v.Verify(r, testTime, testLookup)
		changed := *r
		changed.Body = []byte(strings.Repeat("y", 1<<10))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := v.Verify(&changed, testTime, testLookup); err == nil {
				b.Fatal("verified")
			}
		}
	})
}
