package control_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/store/storetest"
)

// A kind of record is a declaration. These belong to a library: books by number, and one record with its name.
type book struct{ Title, Author string }

var (
	books = control.Table[int, book]{
		Prefix: "library/book/", Key: control.Key[int]{Text: strconv.Itoa, Parse: strconv.Atoi}, Format: 7,
	}
	sign = control.Table[struct{}, string]{Prefix: "library/name", Key: control.Alone}
)

// catalogue is the library's memory: the rows, and an index that a hook maintains.
type catalogue struct {
	books  map[int]*book
	sign   map[struct{}]*string
	titles map[string]int // the number of books with a title
}

var errUntitled = errors.New("it has no title")

func newCatalogue() (*catalogue, control.Kinds) {
	c := &catalogue{titles: make(map[string]int)}
	return c, control.Kinds{books.Into(&c.books, c.count), sign.Into(&c.sign)}
}

func (c *catalogue) count(_ int, old, is *book) error {
	if is != nil && is.Title == "" {
		return errUntitled
	}
	if old != nil {
		if c.titles[old.Title]--; c.titles[old.Title] == 0 {
			delete(c.titles, old.Title)
		}
	}
	if is != nil {
		c.titles[is.Title]++
	}
	return nil
}

func Example_table() {
	s, err := store.OpenMemory(store.Options{})
	if err != nil {
		panic(err)
	}
	defer s.Close()
	c := control.New(control.Options{Store: s})
	library := control.NewSet(control.SetOptions[catalogue]{Control: c, Prefix: "library/", New: newCatalogue})
	if err := library.Register(); err != nil {
		panic(err)
	}
	err = library.Change(context.Background(), func(tx *control.Tx) error {
		books.Put(tx, 1, &book{"Ulysses", "Joyce"})
		books.Put(tx, 2, &book{"Ulysses", "Tennyson"})
		return nil
	})
	if err != nil {
		panic(err)
	}
	now := library.RLock()
	defer library.RUnlock()
	fmt.Println(now.books[2].Author, now.titles["Ulysses"])
	// Output: Tennyson 2
}

// library is a set with its calls to other programs.
type library struct {
	*control.Set[catalogue]
	control  *control.Control
	store    *store.Store
	ready    error
	required []int
	changed  []bool // whether all was new
}

func newLibrary(t *testing.T, s *store.Store) *library {
	t.Helper()
	l := &library{control: control.New(control.Options{Store: s}), store: s}
	l.Set = control.NewSet(control.SetOptions[catalogue]{
		Control: l.control, Prefix: "library/", New: newCatalogue,
		Formats: control.Formats{
			Ready:   func(int) error { return l.ready },
			Require: func(format int) error { l.required = append(l.required, format); return nil },
		},
		Needs: func(now *catalogue) []int {
			if now.titles["Codex"] == 0 {
				return nil
			}
			return []int{9}
		},
		Changed: func(was, now *catalogue) { l.changed = append(l.changed, was != now) },
	})
	return l
}

func (l *library) open(t *testing.T) {
	t.Helper()
	if err := l.Register(); err != nil {
		t.Fatal(err)
	}
}

func (l *library) want(t *testing.T, titles map[string]int, sign string) {
	t.Helper()
	now := l.RLock()
	defer l.RUnlock()
	if has := control.Only(now.sign); !maps.Equal(now.titles, titles) || has != sign {
		t.Errorf("has %v of %q, want %v of %q", now.titles, has, titles, sign)
	}
}

// Rows and their indexes match the records, after changes and when they are read again.
func TestSetFollows(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, storetest.Memory(t))
	l.open(t)
	name := "Central"
	for _, step := range []struct {
		change func(*control.Tx)
		titles map[string]int
		sign   string
	}{
		{func(tx *control.Tx) { books.Put(tx, 1, &book{Title: "a"}); books.Put(tx, 2, &book{Title: "a"}) },
			map[string]int{"a": 2}, ""},
		{func(tx *control.Tx) { books.Put(tx, 2, &book{Title: "b"}); sign.Put(tx, struct{}{}, &name) },
			map[string]int{"a": 1, "b": 1}, name},
		{func(tx *control.Tx) { books.Delete(tx, 1); books.Delete(tx, 9); sign.Delete(tx, struct{}{}) },
			map[string]int{"b": 1}, ""},
	} {
		if err := l.Change(t.Context(), func(tx *control.Tx) error { step.change(tx); return nil }); err != nil {
			t.Fatal(err)
		}
		again := newLibrary(t, l.store)
		again.open(t)
		l.want(t, step.titles, step.sign)
		again.want(t, step.titles, step.sign)
	}
	if err := l.control.Reload(l.store); err != nil {
		t.Fatal(err)
	}
	l.want(t, map[string]int{"b": 1}, "")
	if want := []bool{true, false, false, false, true}; !slices.Equal(l.changed, want) {
		t.Errorf("changed %v, want %v", l.changed, want)
	}
}

// The first record waits until every program can read it. The data directory gets the format before it is written, and
// where it is read.
func TestSetAsksForItsFormat(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, storetest.Memory(t))
	l.open(t)
	put := func(n int) error {
		return l.Change(t.Context(), func(tx *control.Tx) error { books.Put(tx, n, &book{Title: "a"}); return nil })
	}
	l.ready = errors.New("the node b is too old")
	if err := put(1); !errors.Is(err, l.ready) || len(l.required) > 0 {
		t.Errorf("%v, required %v", err, l.required)
	}
	l.ready = nil
	if err := put(1); err != nil {
		t.Fatal(err)
	}
	l.ready = errors.New("the node c is too old")
	if err := put(2); err != nil || !slices.Equal(l.required, []int{7}) {
		t.Errorf("%v, required %v", err, l.required)
	}
	again := newLibrary(t, l.store)
	if again.open(t); !slices.Equal(again.required, []int{7}) {
		t.Errorf("required %v by reading", again.required)
	}
}

// A row can need a format that others of its table do not need.
func TestRowsNeedFormats(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, storetest.Memory(t))
	l.open(t)
	put := func(id int, title string) error {
		return l.Change(t.Context(), func(tx *control.Tx) error {
			if title == "Codex" {
				if err := l.MayNeed(9); err != nil {
					return err
				}
			}
			books.Put(tx, id, &book{Title: title})
			return nil
		})
	}
	if err := put(1, "Ulysses"); err != nil || !slices.Equal(l.required, []int{7}) {
		t.Errorf("%v, required %v", err, l.required)
	}
	l.ready = errors.New("the node b is too old")
	if err := put(2, "Codex"); !errors.Is(err, l.ready) || !slices.Equal(l.required, []int{7}) {
		t.Errorf("%v, required %v", err, l.required)
	}
	l.ready = nil
	if err := put(2, "Codex"); err != nil || !slices.Equal(l.required, []int{7, 9}) {
		t.Errorf("%v, required %v", err, l.required)
	}
	l.ready = errors.New("the node c is too old")
	if err := put(3, "Codex"); err != nil {
		t.Errorf("another row that needs it: %v", err)
	}
	again := newLibrary(t, l.store)
	if again.open(t); !slices.Equal(again.required, []int{7, 9}) {
		t.Errorf("required %v by reading", again.required)
	}
}

// A record that cannot be read, or that a hook refuses, is invalid. Removing a record that this program does not know
// loses nothing.
func TestSetRefusesRecords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ key, value, want string }{
		{"library/book/x", `{"Title":"a"}`, `library/book/x: strconv.Atoi: parsing "x": invalid syntax`},
		{"library/book/1", `{`, `library/book/1: unexpected end of JSON input`},
		{"library/book/1", `null`, `library/book/1: it has no title`},
		{"library/names", `""`, `library/names: unknown key, written by a newer program`},
		{"library/shelf/1", `{}`, `library/shelf/1: unknown key, written by a newer program`},
	} {
		s := storetest.Memory(t)
		if err := put(control.New(control.Options{Store: s}), c.key, c.value, "library/book/2",
			`{"Title":"b"}`); err != nil {
			t.Fatal(err)
		}
		var problems []string
		now, err := control.Check(s, "library/", newCatalogue,
			func(_ string, bad error) { problems = append(problems, bad.Error()) })
		if err != nil || !slices.Equal(problems, []string{c.want}) || !maps.Equal(now.titles, map[string]int{"b": 1}) {
			t.Errorf("%s: %v, %q, has %v", c.key, err, problems, now.titles)
		}
		if err := newLibrary(t, s).Register(); err == nil {
			t.Errorf("%s is accepted", c.key)
		}
		l := newLibrary(t, storetest.Memory(t))
		l.open(t)
		if err := l.control.Change(t.Context(),
			func(tx *control.Tx) error { tx.Delete(c.key); return nil }); err != nil {
			t.Errorf("%s is removed: %v", c.key, err)
		}
	}
}

func TestAny(t *testing.T) {
	t.Parallel()
	s := storetest.Memory(t)
	for _, want := range []bool{false, true} {
		if got, err := books.Any(s); got != want || err != nil {
			t.Errorf("%t, %v", got, err)
		}
		if err := put(control.New(control.Options{Store: s}), "library/book/2", `{"Title":"b"}`); err != nil {
			t.Fatal(err)
		}
	}
}

// A range of rows has those of one group of keys, in their order, and follows changes.
func TestRangeOfRows(t *testing.T) {
	s := storetest.Memory(t)
	c := control.New(control.Options{Store: s})
	rows, err := control.OpenRows(&books, func(a, b int) int { return a - b }, c, control.Formats{})
	if err != nil {
		t.Fatal(err)
	}
	change := func(f func(*control.Tx)) {
		err := rows.Change(t.Context(), func(tx *control.Tx) error {
			f(tx)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	tens := func() (titles []string) {
		for _, b := range rows.Range(10, func(k int) bool { return k < 20 }) {
			titles = append(titles, b.Title)
		}
		return titles
	}
	change(func(tx *control.Tx) {
		for _, k := range []int{25, 14, 9, 11, 17} {
			books.Put(tx, k, &book{Title: strconv.Itoa(k)})
		}
	})
	if got := tens(); !slices.Equal(got, []string{"11", "14", "17"}) {
		t.Error(got)
	}
	change(func(tx *control.Tx) {
		books.Delete(tx, 14)
		books.Put(tx, 17, &book{Title: "another"})
	})
	if got := tens(); !slices.Equal(got, []string{"11", "another"}) {
		t.Error(got)
	}
}
