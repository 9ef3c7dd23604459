package tenant

import (
	"encoding/json"
	"fmt"
	"time"
)

// report is a node's report to the others on the use of limited resources, as JSON, with each heartbeat. A node omits
// resources that are not used there.
type report struct {
	Process string         `json:"p"`
	Uses    map[string]use `json:"u"` // by the subject's key without Prefix
}

// use is the use of a subject on one node.
type use struct {
	Rates    [rates]*told `json:"r"`
	Requests int64        `json:"q,omitempty"`
	Stored   *Amount      `json:"s,omitempty"` // in the shards of the node
}

// Tell returns this node's report; nil: nothing. A nil Tenants has nothing to report.
func (t *Tenants) Tell() json.RawMessage {
	all := t.all()
	if len(all) == 0 {
		return nil
	}
	r := report{Process: t.process, Uses: make(map[string]use)}
	for s, m := range all {
		if u, any := m.say(); any {
			r.Uses[s.text()] = u
		}
	}
	b, err := json.Marshal(r)
	if err != nil {
		panic(err) // strings and numbers
	}
	return b
}

func (m *meter) say() (u use, any bool) {
	for k := range m.rates {
		if r := m.rates[k].Load(); r != nil {
			if said, used := r.say(); used {
				u.Rates[k], any = &said, true
			}
		}
	}
	if messages, bytes := m.stores(); messages || bytes {
		stored := m.stock.say()
		u.Stored, any = &stored, true
	}
	u.Requests = m.crowd.say()
	return u, any || u.Requests > 0
}

// Hear receives the report of another node.
func (t *Tenants) Hear(node string, text json.RawMessage) error {
	all := t.all()
	_, known := t.known.LoadOrStore(node, true)
	if len(text) == 0 || len(all) == 0 {
		return nil
	}
	var r report
	if err := json.Unmarshal(text, &r); err != nil {
		return fmt.Errorf("the use that the node %s reports: %w", node, err)
	}
	now := t.o.Now()
	for s, m := range all {
		m.hear(node, &r, r.Uses[s.text()], known, now)
	}
	return nil
}

func (m *meter) hear(node string, r *report, u use, known bool, now time.Time) {
	for k, said := range u.Rates {
		if mine := m.rates[k].Load(); mine != nil && said != nil {
			said.heard = heard{r.Process, now}
			mine.hear(node, *said, known, now)
		}
	}
	m.crowd.hear(node, u.Requests, now)
	if u.Stored != nil {
		m.stock.hear(node, *u.Stored, now)
	}
}
