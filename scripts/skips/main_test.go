package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// events is the output of go test -json for a package with a test that passes, one that fails, and two that are
// skipped.
const events = `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestGood"}
{"Action":"output","Package":"p","Test":"TestGood","Output":"=== RUN   TestGood\n"}
{"Action":"output","Package":"p","Test":"TestGood","Output":"    good_test.go:1: not to be seen\n"}
{"Action":"output","Package":"p","Test":"TestGood","Output":"--- PASS: TestGood (0.00s)\n"}
{"Action":"pass","Package":"p","Test":"TestGood"}
{"Action":"output","Package":"p","Test":"TestSoak","Output":"    soak_test.go:3: it takes a while\n"}
{"Action":"output","Package":"p","Test":"TestSoak","Output":"--- SKIP: TestSoak (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestSoak"}
`

const failure = `{"Action":"output","Package":"p","Test":"TestBad","Output":"=== RUN   TestBad\n"}
{"Action":"output","Package":"p","Test":"TestBad","Output":"    bad_test.go:2: broken\n"}
{"Action":"output","Package":"p","Test":"TestBad","Output":"--- FAIL: TestBad (0.00s)\n"}
{"Action":"fail","Package":"p","Test":"TestBad"}
{"Action":"output","Package":"p","Output":"FAIL\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}
`

const success = `{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p"}
`

func TestRun(t *testing.T) {
	for _, test := range []struct {
		name, allowed, events string
		ok                    bool
		want                  string
	}{
		{"all is well", "# it is long\n\nTestSoak: it takes .*\n", events + success, true, "ok  \tp\t0.1s\n"},
		{"a test fails", "TestSoak: .*", events + failure, false,
			"    bad_test.go:2: broken\n--- FAIL: TestBad (0.00s)\nFAIL\nFAIL\tp\t0.1s\nFAIL\n"},
		{"a test is skipped that must not be", "TestSoa: .*\nTestSoak: it\n", events + success, false,
			"ok  \tp\t0.1s\n\nskipped, and not allowed by FILE:\n  p TestSoak: it takes a while\nFAIL\n"},
		{"a package cannot be built", "", `{"ImportPath":"p","Action":"build-output","Output":"p.go:1: no\n"}
{"ImportPath":"p","Action":"build-fail"}
{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}
{"Action":"fail","Package":"p"}
`, false, "p.go:1: no\nFAIL\tp [build failed]\nFAIL\n"},
		{"a process is killed in a test", "", `{"Action":"output","Package":"p","Test":"TestGood","Output":"not to be seen\n"}
{"Action":"pass","Package":"p","Test":"TestGood"}
{"Action":"output","Package":"p","Test":"TestHangs","Output":"=== RUN   TestHangs\n"}
{"Action":"output","Package":"p","Test":"TestHangs","Output":"SIGQUIT: quit\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t660s\n"}
{"Action":"fail","Package":"p"}
`, false, "SIGQUIT: quit\nFAIL\tp\t660s\nFAIL\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "allowed")
			if err := os.WriteFile(file, []byte(test.allowed), 0o600); err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			ok, err := run(file, strings.NewReader(test.events), &out)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.ReplaceAll(out.String(), file, "FILE"); ok != test.ok || got != test.want {
				t.Errorf("ok is %t, want %t; it prints:\n%s\nwant:\n%s", ok, test.ok, got, test.want)
			}
		})
	}
	if _, err := run(os.DevNull, strings.NewReader("not JSON"), &strings.Builder{}); err == nil {
		t.Error("input that is not JSON is accepted as results")
	}
}
