package queue

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/formats"
)

// Messages of a paused group are not delivered. The queue's attributes name the groups that its owner has paused; the
// table names those that the rota leaves out. The attributes may change while no engine is loaded, so the table follows
// them in the next transaction, before any call.
//
//   - A paused group takes no turn and is not ready. It stays active while it holds messages.
//   - Its members stay members: they can be peeked at, deleted and moved, and they expire.
//   - When it is resumed, it takes the last place in the rota if it has members and is not active.

// pausedHere returns the paused groups that this shard serves.
func (c *Config) pausedHere() []string {
	return slices.DeleteFunc(slices.Clone(c.PausedGroups), func(name string) bool { return !c.serves(name) })
}

// loadPaused reads the table.
func (g *groups) loadPaused() error {
	lo, hi := tableRange(g.cfg.ID, tablePaused)
	var bad error
	err := g.tx.Scan(lo, hi, func(k, v []byte) bool {
		name, row := pausedName(k), readRecord(v)
		g.paused[name] = true
		bad = row.done("paused group")
		return bad == nil
	})
	if len(g.paused) > 0 {
		g.needs(formats.PausedGroups)
	}
	return firstError(err, bad)
}

// pausedName returns the name of a group from its key.
func pausedName(k []byte) string { return strings.TrimSuffix(string(k[keyOf0:]), "\x00") }

// followPauses pauses and resumes groups until the table equals the attributes.
func (g *groups) followPauses() error {
	if !g.pausesChanged {
		return nil
	}
	wanted := g.cfg.pausedHere()
	for _, name := range slices.Sorted(maps.Keys(g.paused)) {
		if !slices.Contains(wanted, name) {
			if err := g.resume(name); err != nil {
				return fmt.Errorf("resume group: %w", err)
			}
		}
	}
	for _, name := range wanted {
		if !g.paused[name] {
			if err := g.pause(name); err != nil {
				return fmt.Errorf("pause group: %w", err)
			}
		}
	}
	g.pausesChanged = false
	return nil
}

// pause takes a group off the rota, or off the ready groups if it is active.
func (g *groups) pause(name string) error {
	r, err := g.record(name)
	if err != nil {
		return err
	}
	g.paused[name] = true
	g.tx.Set(pausedKey(g.cfg.ID, name), newRecord(1).Writer)
	g.needs(formats.PausedGroups)
	g.markDirty()
	if a := g.active[name]; a != nil {
		g.updateReady(a)
	} else {
		g.rota.remove(name, r)
	}
	return nil
}

// resume lets a paused group take turns again.
func (g *groups) resume(name string) error {
	r, err := g.record(name) // which depends on whether the group is paused
	if err != nil {
		return err
	}
	delete(g.paused, name)
	g.tx.Delete(pausedKey(g.cfg.ID, name))
	g.markDirty()
	if a := g.active[name]; a != nil {
		g.updateReady(a)
		return nil
	}
	return g.requeue(name, r)
}

// blocked counts the active groups that deliver nothing until one of their messages is deleted or visible again.
func (g *groups) blocked() uint64 {
	n := len(g.active) - g.ready.Len()
	for name := range g.paused {
		if a := g.active[name]; a != nil && a.servable() {
			n-- // it only waits to be resumed
		}
	}
	return uint64(n)
}
