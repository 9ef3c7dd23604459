package access

import (
	"fmt"
	"strings"
	"testing"
)

// However many policies there are, the cache holds two generations of texts, and keeps the texts in use.
func TestCacheIsBounded(t *testing.T) {
	const text = `{"Statement":{"Effect":"Allow","Principal":"*","Action":"sqs:*","Resource":"*","Sid":"%d%s"}}`
	pad := strings.Repeat("x", 8000)
	var c cache
	used := fmt.Sprintf(text, 0, "")
	first, ok := c.parse(used)
	if !ok {
		t.Fatal("not a policy")
	}
	for i := range 4 * cacheBytes / len(pad) {
		if _, ok := c.parse(fmt.Sprintf(text, i, pad)); !ok {
			t.Fatal("not a policy")
		}
		if again, _ := c.parse(used); again != first {
			t.Fatalf("after %d others it is parsed again", i+1)
		}
	}
	held := 0
	for text := range c.recent {
		held += len(text)
	}
	for text := range c.older {
		held += len(text)
	}
	if held > 2*cacheBytes {
		t.Errorf("%d bytes are held", held)
	}
	if p, ok := c.parse("no policy"); p != nil || ok {
		t.Error("an invalid text is a policy")
	}
	if p, ok := c.parse("no policy"); p != nil || ok {
		t.Error("an invalid text is a policy the second time")
	}
}
