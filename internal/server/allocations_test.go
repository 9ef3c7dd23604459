//go:build unix && !race

package server

import (
	"fmt"
	"net/http"
	"testing"
)

// TestAllocations holds the calls on messages to what they allocate, from the header of the request to the answer.
// Unlike time, allocations can be counted. The budgets have room for a few that the rest of the server makes meanwhile.
// The commit is part of them; under load several calls share one, and each allocates less. A change that needs more
// says so here.
func TestAllocations(t *testing.T) {
	for _, messages := range []int{1, 10} {
		t.Run(fmt.Sprint(messages), func(t *testing.T) { allocates(t, inMemory(), messages) })
		t.Run(fmt.Sprint(messages, "-encrypted"), func(t *testing.T) { allocates(t, encrypted(t.TempDir()), messages) })
	}
}

// remembered is the number of messages that a shard caches. The first ones allocate memory that later ones reuse.
const remembered = 1024

// allocates holds the calls on messages of a server to the budgets. Those of encrypted messages are the same: memory
// for ciphertext is used again, and a message is decrypted where it is read.
func allocates(t *testing.T, config Config, messages int) {
	const runs = 400
	c := newCaller(t, config)
	send, receive := c.send(messages), c.receive(messages)
	for range remembered/messages + 1 {
		send.answer()
	}
	remove := c.delete(receive.answer(), messages)
	for _, of := range []struct {
		name   string
		call   *prepared
		budget map[int]float64 // by the messages in a call
	}{
		{"send", send, map[int]float64{1: 24, 10: 57}},
		{"receive", receive, map[int]float64{1: 31, 10: 81}},
		{"delete", remove, map[int]float64{1: 21, 10: 42}},
	} {
		out := &discard{make(http.Header)}
		n := testing.AllocsPerRun(runs, func() { of.call.make(out) })
		t.Logf("%s of %d: %.0f", of.name, messages, n)
		if most := of.budget[messages]; n > most {
			t.Errorf("%s of %d messages in one call: %.0f allocations; the budget is %.0f", of.name, messages, n,
				most)
		}
	}
}
