package uuid

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestTexts(t *testing.T) {
	t.Parallel()
	const text = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
	want := UUID{0x6b, 0xa7, 0xb8, 0x10, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8}
	for _, form := range []string{text, strings.ToUpper(text), strings.ReplaceAll(text, "-", "")} {
		if id, err := Parse(form); id != want || err != nil {
			t.Errorf("%s: %v, %v", form, id, err)
		}
	}
	for _, wrong := range []string{
		"", text[1:], text + "0", strings.Replace(text, "-", "0", 1), strings.Replace(text, "6", "g", 1), "{" + text + "}", "urn:uuid:" + text,
	} {
		if id, err := Parse(wrong); id != (UUID{}) || err == nil {
			t.Errorf("%s: %v", wrong, id)
		}
	}
	var id UUID
	if err := json.Unmarshal([]byte(`"`+text+`"`), &id); err != nil || id != want || id.String() != text || MustParse(text) != want {
		t.Errorf("%v, %v", id, err)
	}
	if out, err := json.Marshal(want); string(out) != `"`+text+`"` || err != nil {
		t.Errorf("%s, %v", out, err)
	}
	if Max.String() != "ffffffff-ffff-ffff-ffff-ffffffffffff" {
		t.Error(Max)
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	seen := make(map[UUID]bool)
	for range 1000 {
		id := New()
		if text := id.String(); seen[id] || text[14] != '4' || !strings.ContainsRune("89ab", rune(text[19])) {
			t.Fatal(text)
		}
		seen[id] = true
	}
}

// Identifiers with a time sort as they were made, even of one moment, and say when that was.
func TestTimes(t *testing.T) {
	t.Parallel()
	last := ""
	for range 10_000 {
		began := time.Now().UnixMilli()
		text := NewV7().String()
		if text <= last || text[14] != '7' || !strings.ContainsRune("89ab", rune(text[19])) {
			t.Fatalf("%s after %s", text, last)
		}
		last = text
		if id := MustParse(text); int64(id[5])|int64(id[4])<<8|int64(id[3])<<16|int64(id[2])<<24|int64(id[1])<<32|int64(id[0])<<40 < began {
			t.Fatalf("%s is older than %d", text, began)
		}
	}
}
