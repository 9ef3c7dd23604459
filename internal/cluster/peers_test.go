package cluster

import (
	"slices"
	"testing"
)

func TestParsePeers(t *testing.T) {
	got, err := ParsePeers([]string{"a.example:6222", "b.example", "c=10.0.0.3:7000", "d=[::1]:1"})
	want := []Peer{{"a", "a.example:6222"}, {"b", "b.example:6222"}, {"c", "10.0.0.3:7000"}, {"d", "[::1]:1"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
	for _, bad := range [][]string{
		nil, {""}, {"10.0.0.1:6222"}, {"a=:6222"}, {"A=host:1"}, {"a=x", "a=y"}, {"a=x", "b=x"}, {"nats://a:6222"},
		{"-=x"},
	} {
		if got, err := ParsePeers(bad); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
}
