package http1

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A header is written as net/http writes it.
func TestHeaderAsInNetHTTP(t *testing.T) {
	t.Parallel()
	many := make(http.Header)
	for i := range 2 * maxSorted {
		many.Set("X-"+strconv.Itoa(i), "1")
	}
	for name, h := range map[string]http.Header{
		"none":        {},
		"sorted":      {"X-B": {"1"}, "Content-Type": {"text/plain"}, "X-A": {"2"}, "B": {"3"}, "A": nil, "C": {}},
		"framing":     {"Content-Length": {"1"}, "Transfer-Encoding": {"chunked"}, "Z": {"1"}},
		"several":     {"Set-Cookie": {"a=1", "b=2"}, "Empty": {""}},
		"line breaks": {"X": {"a\r\nb: c"}, "Y": {"1"}},
		"line feed":   {"X": {"a\nb"}},
		"spaces":      {"X": {" a "}, "Y": {"b\t"}, "Z": {"c d"}},
		"bad names":   {"": {"1"}, "A B": {"1"}, "C:D": {"1"}, "E\r\nF": {"1"}, "G": {"1"}},
		"lower case":  {"x-a": {"1"}, "X-A": {"2"}},
		"other bytes": {"X": {"\x00\xff"}},
		"many":        many,
	} {
		var want strings.Builder
		if err := h.WriteSubset(&want, framing); err != nil {
			t.Fatal(err)
		}
		if got := string(appendHeader([]byte("before"), h)); got != "before"+want.String() {
			t.Errorf("%s: %q, want %q", name, got, want.String())
		}
	}
}

// A deadline is kept if it is close enough to the one that is due.
func TestDeadlineSuffices(t *testing.T) {
	t.Parallel()
	set := time.Unix(1_000_000, 0)
	for _, c := range []struct {
		set   time.Time
		later time.Duration
		want  bool
	}{
		{set, 0, true}, {set, time.Second - 1, true}, {set, time.Second, false}, {set, -1, false},
		{time.Time{}, 0, false},
	} {
		if got := suffices(c.set, c.set.Add(c.later), 100*time.Second); got != c.want {
			t.Errorf("%v later: %t", c.later, got)
		}
	}
	if suffices(set, time.Time{}, 0) {
		t.Error("a deadline suffices where none is due")
	}
}
