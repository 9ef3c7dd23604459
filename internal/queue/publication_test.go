package queue

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawPublication generates a publication whose copies share some fields.
func drawPublication(t *rapid.T) *Publication {
	text := rapid.SampledFrom([]string{"", "a", "b", strings.Repeat("0", 40)})
	p := &Publication{
		Topic: ID(rapid.Uint64().Draw(t, "topic")), Group: text.Draw(t, "group"), Dedup: text.Draw(t, "dedup"),
		Copies: []Copy{},
	}
	copy(p.ID[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
	for i := range rapid.IntRange(0, 20).Draw(t, "copies") {
		c := Copy{Queue: ID(rapid.Uint64().Draw(t, "queue")), Tail: text.Draw(t, "tail"), Message: Outgoing{
			Sender: text.Draw(t, "sender"), Group: text.Draw(t, "copy's group"), Dedup: text.Draw(t, "copy's dedup"),
			Trace: text.Draw(t, "trace"), Body: text.Draw(t, "body"),
		}}
		for range rapid.IntRange(0, 2).Draw(t, "attributes") {
			c.Message.Attributes = append(c.Message.Attributes,
				Attribute{text.Draw(t, "name"), "String", text.Draw(t, "value")})
		}
		if len(c.Message.Body) > SequenceDigits {
			c.SequenceAt = rapid.IntRange(0, len(c.Message.Body)-SequenceDigits).Draw(t, "sequence at")
		}
		c.Message.ID[0], c.Message.BodyMD5[0] = byte(i), rapid.Byte().Draw(t, "digest")
		p.Copies = append(p.Copies, c)
	}
	return p
}

func TestPublicationIsReadAsWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawPublication(t)
		b := p.Encode()
		got, err := DecodePublication(b)
		if err != nil || !reflect.DeepEqual(got, p) {
			t.Fatalf("%+v is read as %+v, %v", p, got, err)
		}
		n := rapid.IntRange(0, len(b)-1).Draw(t, "cut")
		if _, err := DecodePublication(b[:n]); err == nil {
			t.Fatalf("%d of %d bytes are read", n, len(b))
		}
		if _, err := DecodePublication(append(b, 0)); err == nil {
			t.Fatal("the input has more than a publication")
		}
	})
}

// Copies that share their message take little space each.
func TestCommonMessagesAreEncodedOnce(t *testing.T) {
	t.Parallel()
	p := Publication{}
	raw, envelope := Outgoing{Body: strings.Repeat("x", 100_000)}, Outgoing{Body: strings.Repeat("y", 100_000)}
	for i := range 500 {
		p.Copies = append(p.Copies, Copy{Queue: ID(2 * i), Message: raw}, Copy{
			Queue: ID(2*i + 1), Message: envelope, Tail: "tail",
		})
	}
	if n := len(p.Encode()); n > 250_000 {
		t.Errorf("%d bytes", n)
	}
}

func FuzzPublication(f *testing.F) {
	f.Add((&Publication{}).Encode())
	f.Add((&Publication{Topic: 3, Group: "g", Dedup: "d", Copies: []Copy{
		{Queue: 1, Message: Outgoing{Body: strings.Repeat("0", 30), Attributes: []Attribute{{"n", "String", "v"}}},
			SequenceAt: 4, Tail: "t"},
		{Queue: 2, Message: Outgoing{Body: "b"}},
	}}).Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := DecodePublication(b)
		if err != nil {
			return
		}
		again, err := DecodePublication(p.Encode())
		if err != nil || !reflect.DeepEqual(again, p) {
			t.Errorf("%+v is read again as %+v, %v", p, again, err)
		}
	})
}

// A copy's body is the shared beginning, with the sequence number in its place, and its tail. Its digest is the digest
// of that body.
func TestBodiesOfCopies(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	defer r.close()
	for id, fifo := range map[ID]bool{1: true, 2: false, 3: false, 4: false, 5: false} {
		r.configure(Config{ID: id, ARN: fmt.Sprint("q", id), FIFO: fifo, Internal: fifo, Retention: 1e12})
	}
	zeros := strings.Repeat("0", SequenceDigits)
	head := `{"n":"` + zeros + `",`
	plain := Outgoing{Body: "plain", BodyMD5: md5.Sum([]byte("plain"))}
	var published []Published
	err := r.do(func(e *Engine) (err error) {
		published, err = e.Publish([]Publication{{Topic: 1, Group: "g", Dedup: "d", Copies: []Copy{
			{Queue: 2, Message: Outgoing{Body: head}, SequenceAt: 6, Tail: "a}"},
			{Queue: 3, Message: Outgoing{Body: head}, SequenceAt: 6, Tail: "b}"},
			{Queue: 4, Message: Outgoing{Body: head}, Tail: "c}"},
			{Queue: 5, Message: plain},
		}}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	number := fmt.Sprint(published[0].Sequence)
	if len(number) != SequenceDigits {
		t.Fatalf("sequence number %s", number)
	}
	for id, want := range map[ID]string{
		2: `{"n":"` + number + `",a}`, 3: `{"n":"` + number + `",b}`, 4: head + "c}", 5: "plain",
	} {
		for _, m := range r.stored(id) {
			if digest := md5.Sum([]byte(want)); m.Body != want || !bytes.Equal(m.BodyMD5[:], digest[:]) {
				t.Errorf("queue %d has %q with the digest %x", id, m.Body, m.BodyMD5)
			}
		}
	}
}

// Publications are divided into parts of bounded length, which together have all copies in order and count once.
func TestDividePublications(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const most = 4000
		var all []Publication
		body := rapid.SampledFrom([]string{"", strings.Repeat("x", 100), strings.Repeat("x", most)})
		for i := range rapid.IntRange(1, 4).Draw(t, "publications") {
			p := Publication{ID: MessageID{byte(i)}, Count: new(TopicCount)}
			raw, envelope := body.Draw(t, "raw"), body.Draw(t, "envelope")
			for n := range rapid.IntRange(0, 100).Draw(t, "copies") {
				c := Copy{Queue: ID(n + 1), Message: Outgoing{ID: MessageID{byte(i), byte(n)}, Body: raw}}
				if n%2 == 1 {
					c.Message.Body, c.Tail = envelope,
						strings.Repeat("t", rapid.SampledFrom([]int{0, 50, most}).Draw(t, "tail"))
				}
				p.Copies = append(p.Copies, c)
			}
			all = append(all, p)
		}
		copies, counts := make(map[MessageID][]Copy), make(map[MessageID]int)
		for _, part := range Divide(all, most) {
			size, n := 0, 0
			for i := range part {
				p := &part[i]
				size, n = size+len(p.Encode()), n+len(p.Copies)
				copies[p.ID] = append(copies[p.ID], p.Copies...)
				if p.Count != nil {
					counts[p.ID]++
				}
			}
			if size > most+100*len(part) && n > 1 {
				t.Fatalf("a part with %d copies has %d bytes", n, size)
			}
		}
		for _, p := range all {
			if counts[p.ID] != 1 || !reflect.DeepEqual(copies[p.ID], p.Copies) {
				t.Fatalf("publication %v is counted %d times, and has %d copies of %d", p.ID[0], counts[p.ID],
					len(copies[p.ID]), len(p.Copies))
			}
		}
	})
}
