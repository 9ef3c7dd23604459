package repository

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/sluicemq/sluice/internal/backup"
	"github.com/sluicemq/sluice/internal/formats"
)

// packedKey returns the key of the compressed object of a table.
func packedKey(t *testing.T, m *memory, text string) string {
	t.Helper()
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
	for key := range m.objects {
		if strings.HasPrefix(key, objectKey(sum)+".") {
			return key
		}
	}
	t.Fatalf("there is no compressed object %s", sum)
	return ""
}

func TestTablesAreCompressed(t *testing.T) {
	t.Parallel()
	m := newMemory()
	h := history(4)
	w := newWriter(m, "a")
	for i := range h {
		one, err := write(t, w, i, h[i])
		if err != nil {
			t.Fatal(err)
		}
		if one.Data.Number != formats.PackedBackups || one.Data.Version != "1" {
			t.Errorf("moment %d says that it needs %+v", i, one.Data)
		}
	}
	if got := checkAll(t, m, h); !slices.Equal(got, []int{0, 1, 2, 3}) {
		t.Errorf("there are %v", got)
	}
	for i := range 5 {
		sum := fmt.Sprintf("%x", sha256.Sum256([]byte(table(i))))
		size := 0
		for key, text := range m.objects {
			if strings.HasPrefix(key, objectKey(sum)) {
				size += len(text)
			}
		}
		if size == 0 || size > len(table(i)) || i%2 == 1 && size > len(table(i))/4 {
			t.Errorf("table %d of %d bytes takes %d", i, len(table(i)), size)
		}
	}
	// When moments have expired, their compressed objects are removed, too.
	plain, packed := "", ""
	for i := range 3 {
		later := files{"control/MANIFEST-000001": fmt.Sprint("edit ", i)}
		one, err := write(t, w, 100_000+i, later)
		if err != nil {
			t.Fatal(err)
		}
		plain, packed = plain+strings.Join(one.Removing, " "), packed+strings.Join(one.RemovingPacked, " ")
		if err := w.Tidy(t.Context(), timeOf(100_000+i), time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		w.swept = time.Time{}
	}
	checkNoGarbage(t, m)
	if strings.Contains(plain, packedSuffix) || strings.Count(packed, packedSuffix) != 2 {
		t.Errorf("older programs read that %s are removed; newer ones %s", plain, packed)
	}
}

// Objects of a program that did not compress stay unchanged, and are not stored again.
func TestObjectsOfBefore(t *testing.T) {
	t.Parallel()
	m := newMemory()
	h := history(1)
	for _, text := range h[0] {
		m.objects[objectKey(fmt.Sprintf("%x", sha256.Sum256([]byte(text))))] = text
	}
	before := len(m.objects)
	one, err := write(t, newWriter(m, "a"), 0, h[0])
	if err != nil {
		t.Fatal(err)
	}
	if len(m.objects) != before+2 || one.Data.Number != 0 { // the owner and the moment
		t.Errorf("there are %d objects, and the moment needs %+v", len(m.objects), one.Data)
	}
	if got, err := restored(t, New(m), one); err != nil || !maps.Equal(got, h[0]) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestDamageOfCompressedObjects(t *testing.T) {
	t.Parallel()
	h := history(1)
	for name, damage := range map[string]func(text string) string{
		"a bit":    func(s string) string { b := []byte(s); b[len(b)/2] ^= 4; return string(b) },
		"its half": func(s string) string { return s[:len(s)/2] },
		"its end":  func(s string) string { return s[:len(s)-1] },
		"more":     func(s string) string { return s + s },
		"another": func(string) string {
			var b bytes.Buffer
			_ = pack(&b,
				strings.NewReader(table(7)))
			return b.String()
		},
		"a long one": func(string) string {
			var b bytes.Buffer
			_ = pack(&b, io.LimitReader(zeros{}, 1<<26))
			return b.String()
		},
		"plain":   func(string) string { return table(1) },
		"nothing": func(string) string { return "" },
	} {
		m := newMemory()
		one, err := write(t, newWriter(m, "a"), 0, h[0])
		if err != nil {
			t.Fatal(err)
		}
		key := packedKey(t, m, table(1))
		m.objects[key] = damage(m.objects[key])
		if _, err := restored(t, New(m), one); !errors.Is(err, backup.ErrNoBackup) {
			t.Errorf("%s: %v", name, err)
		}
		// A starting writer stores an object again if it was cut short, which the list of objects shows.
		_, size, _ := parsePacked(strings.TrimPrefix(key, objectsPrefix))
		whole := int64(len(m.objects[key])) == size
		if _, err := write(t, newWriter(m, "a"), 1, h[0]); err != nil {
			t.Fatal(err)
		}
		if _, err := restored(t, New(m), one); !whole && err != nil {
			t.Errorf("%s, stored again: %v", name, err)
		}
	}
}

// zeros is a text that compresses well.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// failingPlace fails while objects are read.
type failingPlace struct{ *memory }

var errCutOff = errors.New("the connection was cut off")

func (p failingPlace) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	f, err := p.memory.Open(ctx, key)
	if strings.HasSuffix(key, packedSuffix) && err == nil {
		f = io.NopCloser(io.MultiReader(io.LimitReader(f, 10), iotest.ErrReader(errCutOff)))
	}
	return f, err
}

// A failure of the object store is not damage.
func TestFailureWhileDecompressing(t *testing.T) {
	t.Parallel()
	m := newMemory()
	one, err := write(t, newWriter(m, "a"), 0, history(1)[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := restored(t, New(failingPlace{m}), one); !errors.Is(err, errCutOff) ||
		errors.Is(err, backup.ErrNoBackup) {
		t.Error(err)
	}
}

// The same content always gives the same bytes, however it is read: the digest of the sent data is computed before.
func TestPackingIsDeterministic(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{minPacked, packedBlock - 1, packedBlock, packedBlock + 1, 3*packedBlock + 7} {
		text := make([]byte, size)
		for i := range text {
			text[i] = "abcdef"[random.IntN(6)]
		}
		is, err := measureFile(iotest.OneByteReader(bytes.NewReader(text)), int64(size))
		if err != nil || is.packed == 0 {
			t.Fatal(is, err)
		}
		packing := newPacking(io.NopCloser(iotest.HalfReader(bytes.NewReader(text))))
		packed, err := io.ReadAll(packing)
		if err := errors.Join(err, packing.Close()); err != nil {
			t.Fatal(err)
		}
		if int64(len(packed)) != is.packed || sha256.Sum256(packed) != is.packedSum {
			t.Errorf("%d bytes become %d, not %d", size, len(packed), is.packed)
		}
		back, err := io.ReadAll(newUnpacking(io.NopCloser(bytes.NewReader(packed))))
		if err != nil || !bytes.Equal(back, text) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	// One that is closed early does not read on.
	early := newPacking(io.NopCloser(zeros{}))
	if _, err := early.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	if err := early.Close(); err != nil {
		t.Error(err)
	}
}
