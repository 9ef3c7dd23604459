package plainjson_test

import (
	"math"
	"testing"

	"github.com/sluicemq/sluice/internal/tool/plainjson"
)

func TestMarshal(t *testing.T) {
	t.Parallel()
	got, err := plainjson.Marshal(map[string]any{"a": "1 < 2 & 2 > 1\n", "b": []int{1}})
	if want := `{"a":"1 < 2 & 2 > 1\n","b":[1]}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if got, err := plainjson.Marshal(math.NaN()); err == nil {
		t.Errorf("a value without a form in JSON is %s", got)
	}
}
