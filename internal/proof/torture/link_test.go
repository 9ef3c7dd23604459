package torture

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"
	"time"
)

// echo echoes lines until the test ends.
func echo(t *testing.T) (addr string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for lines := bufio.NewScanner(c); lines.Scan(); {
					fmt.Fprintln(c, lines.Text())
				}
			}()
		}
	}()
	return listener.Addr().String()
}

// caller is one end of a connection.
type caller struct {
	net.Conn
	in *bufio.Reader
}

func call(t *testing.T, l *link) *caller {
	t.Helper()
	c, err := net.Dial("tcp", l.addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &caller{c, bufio.NewReader(c)}
}

// hear returns the next line, if there is one within the time.
func (c *caller) hear(within time.Duration) (string, error) {
	if err := c.SetReadDeadline(time.Now().Add(within)); err != nil {
		return "", err
	}
	return c.in.ReadString('\n')
}

func (c *caller) say(text string) { fmt.Fprintln(c, text) }

const (
	soon  = 30 * time.Second       // for events that must happen
	never = 100 * time.Millisecond // for events that must not
)

func TestLink(t *testing.T) {
	open := func(t *testing.T) *link {
		l, err := newLink()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.close() })
		l.lead(echo(t))
		return l
	}
	hears := func(t *testing.T, c *caller, want string) {
		t.Helper()
		if got, err := c.hear(soon); got != want+"\n" {
			t.Errorf("heard %q, %v, want %q", got, err, want)
		}
	}
	deaf := func(t *testing.T, c *caller) {
		t.Helper()
		if got, err := c.hear(never); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("heard %q, %v", got, err)
		}
	}
	ends := func(t *testing.T, c *caller) {
		t.Helper()
		if got, err := c.hear(soon); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("heard %q, %v", got, err)
		}
	}
	refused := func(t *testing.T, l *link) {
		t.Helper()
		c, err := net.Dial("tcp", l.addr())
		if err != nil {
			return // as soon as that
		}
		defer c.Close()
		ends(t, &caller{c, bufio.NewReader(c)})
	}
	t.Run("fine", func(t *testing.T) {
		c := call(t, open(t))
		c.say("one")
		hears(t, c, "one")
	})
	for name, w := range map[string]weather{
		"there": {There: true}, "back": {Back: true}, "both": {There: true, Back: true},
	} {
		t.Run("held "+name, func(t *testing.T) {
			l := open(t)
			c := call(t, l)
			c.say("one")
			hears(t, c, "one")
			_ = l.set(w)
			c.say("two")
			deaf(t, c)
			late := call(t, l)
			late.say("three")
			deaf(t, late)
			_ = l.set(weather{})
			hears(t, c, "two")
			hears(t, late, "three")
		})
	}
	t.Run("cut", func(t *testing.T) {
		l := open(t)
		c := call(t, l)
		c.say("one")
		hears(t, c, "one")
		_ = l.set(weather{Cut: true})
		ends(t, c)
		refused(t, l)
		_ = l.set(weather{})
		c = call(t, l)
		c.say("two")
		hears(t, c, "two")
	})
	t.Run("cut while held", func(t *testing.T) {
		l := open(t)
		c := call(t, l)
		_ = l.set(weather{There: true, Back: true})
		c.say("one")
		deaf(t, c)
		_ = l.set(weather{Cut: true})
		ends(t, c)
	})
	t.Run("slow", func(t *testing.T) {
		l := open(t)
		_ = l.set(weather{Delay: never / 2})
		began := time.Now()
		c := call(t, l)
		c.say("one")
		hears(t, c, "one")
		if took := time.Since(began); took < never {
			t.Errorf("there and back in %v", took)
		}
	})
	t.Run("no target", func(t *testing.T) {
		l := open(t)
		l.lead("")
		refused(t, l)
	})
}
