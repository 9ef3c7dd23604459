package queue

import (
	"bytes"
	"math"
	"reflect"
	"testing"
)

// A decoder returns an error, or a value that survives encoding and decoding unchanged. It does not panic.

func FuzzMessage(f *testing.F) {
	seed := &Message{
		ID: MessageID{1, 2, 3}, SentAt: epoch, Sender: "AIDA", Group: "g", Dedup: "d", Trace: "Root=1",
		Sequence: math.MaxUint64, Source: "arn:aws:sqs:us-east-1:123456789012:q", BodyMD5: [16]byte{4, 5, 6},
		Body: "hello", PriorReceives: 3, PriorFirst: epoch - 1,
		Attributes: []Attribute{{"Name", "String.x", "value"}, {"Other", "Binary", "\x00\xff"}},
	}
	f.Add(seed.encode(nil))
	f.Add((&Message{}).encode(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decodeMessage(b)
		if sent, errSent := sentAt(b); err == nil && (errSent != nil || sent != m.SentAt) {
			t.Fatalf("sent at %v, read %v, %v", m.SentAt, sent, errSent)
		}
		if err != nil {
			return
		}
		again, err := decodeMessage(m.encode(nil))
		if err != nil || !reflect.DeepEqual(m, again) {
			t.Fatalf("%+v became %+v, %v", m, again, err)
		}
	})
}

func FuzzReceived(f *testing.F) {
	seed := &received{receives: 2, first: epoch, last: epoch + 1, deadline: epoch + 2, receipt: 9, sent: epoch - 5}
	f.Add(seed.encode(nil))
	seed.group = &activeGroup{name: "g"}
	f.Add(seed.encode(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, name, err := decodeReceived(5, b)
		if err != nil {
			return
		}
		m.group = &activeGroup{name: name}
		again, name2, err := decodeReceived(5, m.encode(nil))
		if err != nil || name2 != name {
			t.Fatalf("group %q became %q, %v", name, name2, err)
		}
		again.group = m.group
		if !reflect.DeepEqual(m, again) {
			t.Fatalf("%+v became %+v", m, again)
		}
	})
}

func FuzzQueueRecord(f *testing.F) {
	f.Add((&meta{}).encode(nil))
	f.Add((&meta{
		line: lineRecord{1, 2, epoch}, index: indexRecord{3, epoch + 2, 0}, rota: rotaRecord{4, 5, 6}, stored: 7,
		delays: delaysRecord{8, epoch + 1}, held: heldRecord{9}, purged: epoch + 3, dedup: dedupRecord{10, 11},
	}).encode(nil))
	f.Add((&meta{
		stored: 1, rows: true, mixed: true, forgotten: forgottenRecord{1, 2, epoch},
		kept: keptRecord{
			since: epoch, line: 3, waited: 2, indexed: indexedBit + 4, messages: 5, bytes: 500, held: 1, delayed: 1,
			places:    7,
			forgotten: forgottenRecord{8, 9, epoch}, undo: undoOthers, at: 2, postpones: true,
		},
	}).encode(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var m, again meta
		if m.decode(b) != nil {
			return
		}
		if err := again.decode(m.encode(nil)); err != nil || m != again {
			t.Fatalf("%+v became %+v, %v", m, again, err)
		}
	})
}

func FuzzMoveTask(f *testing.F) {
	f.Add((&MoveTask{}).encode())
	f.Add((&MoveTask{
		ID: "t", Destination: "arn", Rate: 500, Started: epoch, Status: MoveFailed, Moved: 1, ToMove: 2,
		Failure: FailureNoSource,
	}).encode())
	f.Add((&MoveTask{ID: "t", Sources: []ID{1, 1 << 40}}).encode())
	f.Add((&MoveTask{ID: "t", Selection: new(Selection)}).encode())
	f.Add((&MoveTask{
		ID: "t", Sources: []ID{1}, Selection: &Selection{Filter: "count>3", Chosen: 2, Edited: true}, Scanned: 7,
		Skipped: 1, Ended: epoch,
		Results: []MoveResult{{ID: MessageID{1}, Moved: MessageID{2}, Outcome: OutcomeMoved}},
		place: selectionPlace{
			place: place{phase: phaseIndexed, position: 7 | indexedBit}, lineEnd: 3, indexedEnd: 9 | indexedBit,
		},
	}).encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		task, err := decodeMoveTask(b)
		if err != nil {
			return
		}
		again, err := decodeMoveTask(task.encode())
		if err != nil || !reflect.DeepEqual(task, again) {
			t.Fatalf("%+v became %+v, %v", task, again, err)
		}
	})
}

func FuzzChoice(f *testing.F) {
	body := "b"
	f.Add(new(Selection).encodeChoice())
	f.Add((&Selection{IDs: []MessageID{{1}, {2}}, Edit: new(Edit)}).encodeChoice())
	f.Add((&Selection{Edit: &Edit{
		Body: &body, BodyMD5: [16]byte{3}, Set: []Attribute{{Name: "n", Type: "String", Value: "v"}},
		Remove: []string{"r"}, MaxSize: 1 << 20, MaxAttributes: 10,
	}}).encodeChoice())
	f.Fuzz(func(t *testing.T, b []byte) {
		var s, again Selection
		if s.decodeChoice(b) != nil {
			return
		}
		if err := again.decodeChoice(s.encodeChoice()); err != nil || !reflect.DeepEqual(s, again) {
			t.Fatalf("%+v became %+v, %v", s, again, err)
		}
	})
}

func FuzzAwayRecord(f *testing.F) {
	f.Add((&outboxRecord{}).encode())
	f.Add((&outboxRecord{head: 1, last: 2, stored: 1, copies: true}).encode())
	f.Add((&outboxRecord{head: outboxPosition(epoch), last: outboxPosition(epoch) + 9, stored: 10}).encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		var a, again outboxRecord
		if a.decode(b) != nil {
			return
		}
		if err := again.decode(a.encode()); err != nil || a != again {
			t.Fatalf("%+v became %+v, %v", a, again, err)
		}
	})
}

func FuzzAccepted(f *testing.F) {
	f.Add(encodeAccepted(1))
	f.Add(encodeAccepted(outboxPosition(epoch)))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := decodeAccepted(b)
		if err != nil {
			return
		}
		if again, err := decodeAccepted(encodeAccepted(p)); err != nil || p != again {
			t.Fatalf("%d became %d, %v", p, again, err)
		}
	})
}

// Two groups keep their keys apart even if the name of one begins with the name of the other, and keys are in order of
// position.
func FuzzMemberKey(f *testing.F) {
	f.Add("g", uint64(1), "g", uint64(2))
	f.Add("g", uint64(1<<63), "g!", uint64(0))
	f.Fuzz(func(t *testing.T, a string, p uint64, b string, q uint64) {
		if bytes.IndexByte([]byte(a+b), 0) >= 0 {
			return
		}
		x, y := memberKey(1, a, Position(p)), memberKey(1, b, Position(q))
		if tail(x, 0) != p {
			t.Fatalf("position %d became %d", p, tail(x, 0))
		}
		if a == b && (bytes.Compare(x, y) < 0) != (p < q) {
			t.Fatalf("keys of %d and %d are out of order", p, q)
		}
		lo, hi := memberKey(1, a, 0), tableKey(1, tableMember).string(a).byte(1)
		if inside := bytes.Compare(lo, y) <= 0 && bytes.Compare(y, hi) < 0; inside != (a == b) {
			t.Fatalf("key of group %q among those of %q", b, a)
		}
	})
}

// Each kept record has one key, which names it, and no other row of the store is mistaken for one.
func FuzzKeptKey(f *testing.F) {
	f.Add(uint64(1), uint64(2), byte(kindDedup), "id", []byte("value"))
	f.Fuzz(func(t *testing.T, slot, q uint64, kind byte, id string, b []byte) {
		k := dedupKey(slot, ID(q)).byte(kind).string(id)
		gotSlot, gotQueue, gotKind, gotID, ok := splitDedupKey(k)
		if !ok || gotSlot != slot || gotQueue != ID(q) || gotKind != kind || gotID != id {
			t.Fatalf("%d, %d, %q, %q became %d, %d, %q, %q, %t", slot, q, kind, id, gotSlot, gotQueue, gotKind, gotID,
				ok)
		}
		r := readRecord(b)
		if at := r.Instant(); checkDedup(k, b, nil) == nil && slotOf(at) != slot {
			t.Fatalf("%q at %q passes", b, k)
		}
		_ = checkDedup(b, b, nil) // refuses, and does not panic
	})
}
