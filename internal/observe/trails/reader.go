package trails

import (
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/control"
)

// reader is how the trails are learnt from the control store.
type reader struct{ t *Trails }

// Load implements control.Reader.
func (r reader) Load(all iter.Seq2[string, []byte]) error {
	fresh := newRecords()
	for k, v := range all {
		if err := fresh.put(k, v, r.t.vault); err != nil {
			return err
		}
	}
	r.t.mu.Lock()
	r.t.records = fresh
	r.t.noteLogging()
	r.t.mu.Unlock()
	if fresh.empty() {
		return nil
	}
	return r.t.needFormat()
}

// Apply implements control.Reader.
func (r reader) Apply(changes []control.Change) error {
	if err := r.t.needFormat(); err != nil {
		return err
	}
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	defer r.t.noteLogging()
	for _, ch := range changes {
		if ch.Removed {
			r.t.remove(ch.Key)
		} else if err := r.t.put(ch.Key, ch.Value, r.t.vault); err != nil {
			return err
		}
	}
	return nil
}

// noteLogging notes whether any trail is on, and whether one gets data events. The caller holds the lock.
func (t *Trails) noteLogging() {
	logging, data := false, false
	for _, one := range t.trails {
		logging = logging || one.Logging
		data = data || one.Logging && one.Selectors.TakesData()
	}
	t.logging.Store(logging)
	t.data.Store(data)
}

func newRecords() records {
	return records{trails: make(map[Name]*Trail), statuses: make(map[uuid.UUID]*Status), keys: make(map[string]*Key)}
}

func (r *records) empty() bool { return len(r.trails)+len(r.statuses)+len(r.keys) == 0 }

// put takes in a record. Without a vault private keys stay shut.
func (r *records) put(key string, value []byte, v Vault) error {
	var err error
	switch {
	case strings.HasPrefix(key, keyTrail):
		t := new(Trail)
		if err = json.Unmarshal(value, t); err == nil {
			r.trails[t.Name] = t
		}
	case strings.HasPrefix(key, keyStatus):
		var id uuid.UUID
		s := new(Status)
		if id, err = uuid.Parse(key[len(keyStatus):]); err == nil {
			err = json.Unmarshal(value, s)
		}
		if err == nil {
			r.statuses[id] = s
		}
	case strings.HasPrefix(key, keyKey):
		var k *Key
		if k, err = readKey(key, value, v); err == nil {
			r.keys[key] = k
		}
	default:
		err = errUnknownKey
	}
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

// remove forgets a record.
func (r *records) remove(key string) {
	switch {
	case strings.HasPrefix(key, keyTrail):
		if parts := strings.SplitN(key[len(keyTrail):], "/", 3); len(parts) == 3 {
			delete(r.trails, Name{parts[0], parts[1], parts[2]})
		}
	case strings.HasPrefix(key, keyStatus):
		if id, err := uuid.Parse(key[len(keyStatus):]); err == nil {
			delete(r.statuses, id)
		}
	case strings.HasPrefix(key, keyKey):
		delete(r.keys, key)
	}
}
