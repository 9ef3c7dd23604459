//go:build !race

// In a race build Pebble checks itself at every step, which would make this test take half a minute.

package queue

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// The store keeps all written data after it has sorted, merged and discarded many megabytes; reload compares it. Here,
// a DeleteOnce of a key that was set twice would bring back the first value.
func TestCompactions(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	defer r.close()
	for id := ID(1); id <= 4; id++ {
		cfg := Config{ID: id, ARN: fmt.Sprint(id), Visibility: 5 * time.Second, Retention: time.Minute, FIFO: id > 2}
		if id%2 == 1 {
			cfg.Redrive = &Redrive{Target: fmt.Sprint(id + 1), MaxReceives: 2}
		}
		r.configure(cfg)
	}
	random := rand.New(rand.NewPCG(1, 2))
	body := strings.Repeat("x", 32<<10)
	receipts := make(map[ID][]Receipt)
	sent := 0
	operate := func(e *Engine) error {
		id := ID(1 + random.IntN(4))
		switch random.IntN(8) {
		case 0, 1:
			var out [10]Outgoing
			for i := range out {
				sent++
				out[i] = Outgoing{Body: body, Dedup: fmt.Sprint(sent), Group: fmt.Sprint(random.IntN(20))}
				if id <= 2 && random.IntN(2) == 0 {
					out[i].Group = ""
				}
				if random.IntN(4) == 0 {
					out[i].Delay = new(time.Duration(random.IntN(5)) * time.Second)
				}
			}
			_, err := e.Send(id, out[:])
			return err
		case 2, 3, 4:
			given, err := e.Receive(id, Receive{Max: 10})
			for _, d := range given {
				receipts[id] = append(receipts[id], Receipt{d.Position, d.Receipt})
			}
			return err
		case 5, 6:
			n := len(receipts[id]) / 2
			_, err := e.Delete(id, receipts[id][:n])
			receipts[id] = receipts[id][n:]
			return err
		default:
			var changes []Visibility
			for _, receipt := range receipts[id] {
				if random.IntN(10) == 0 {
					changes = append(changes, Visibility{receipt, time.Duration(random.IntN(3)) * time.Second})
				}
			}
			_, err := e.ChangeVisibility(id, changes)
			return err
		}
	}
	for step := range 3000 {
		r.now += Instant(random.IntN(40))
		tx := r.begin()
		r.engine.Begin(tx, r.now)
		if err := firstError(operate(r.engine), r.engine.Advance()); err != nil && !IsRefusal(err) {
			t.Fatal(err)
		}
		r.engine.End()
		r.commit(tx)
		tx.Release()
		if step%300 == 0 {
			r.check()
			r.reload()
		}
	}
}
