package search

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A needle is found exactly where the simple search finds it.
func TestNeedleLikeAModel(t *testing.T) {
	t.Parallel()
	letters := rapid.SampledFrom([]byte("aAbB1é"))
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOfN(letters, 0, 40).Draw(t, "text"))
		word := string(rapid.SliceOfN(letters, 1, 6).Draw(t, "word"))
		n := newNeedle([]byte(word))
		want := strings.Contains(asciiLower(text), asciiLower(word))
		if got := n.in([]byte(text)); got != want {
			t.Fatalf("%q in %q: %v, want %v", word, text, got, want)
		}
	})
}

func asciiLower(s string) string { return string(lower([]byte(s))) }

// The number of comparisons is at most twice the length of the text, even where each prefix of the needle matches
// nearly everywhere: the borders only ever reject what was matched before.
func TestNeedleIsLinear(t *testing.T) {
	t.Parallel()
	for _, word := range []string{strings.Repeat("a", 1000) + "b", strings.Repeat("ab", 500) + "c", "a"} {
		n := newNeedle([]byte(word))
		text, steps := strings.Repeat("a", 100_000), 0
		matched := 0
		for i := range text {
			for before := matched; before > 0 && n.text[before] != text[i]; before = n.border[before-1] {
				steps++
			}
			if matched = n.advance(matched, text[i]); matched == len(n.text) {
				break
			}
			steps++
		}
		if steps > 2*len(text) {
			t.Errorf("%.10s…: %d steps for %d bytes", word, steps, len(text))
		}
	}
}

func BenchmarkNeedle(b *testing.B) {
	text := []byte(strings.Repeat("a", 1<<20))
	for name, word := range map[string]string{"worst": strings.Repeat("a", 1000) + "b", "absent": "xyz"} {
		b.Run(name, func(b *testing.B) {
			n := newNeedle([]byte(word))
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if n.in(text) {
					b.Fatal("found")
				}
			}
		})
	}
}
