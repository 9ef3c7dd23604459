package monitor

import (
	"encoding/json"
	"iter"
	"net/url"
	"strings"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
	"github.com/sluicemq/sluice/internal/tool/sortedlist"
)

var (
	alarmTable = control.Table[Name, Alarm]{
		Prefix: Prefix + "alarm/", Key: control.Key[Name]{Text: Name.text, Parse: parseName}, Format: formats.Monitor,
		Read: readAlarm, Write: encodeRecord[Alarm],
	}
	actionTable = control.Table[string, Action]{
		Prefix: Prefix + "action/", Key: control.Text, Format: formats.Monitor,
		Read: readAction, Write: encodeRecord[Action],
	}
	dashboardTable = control.Table[string, Dashboard]{
		Prefix: Prefix + "dashboard/", Key: control.Text, Format: formats.Monitor,
		Read: readDashboard, Write: (*Dashboard).encode,
	}
	metricTable = control.Table[string, Metric]{
		Prefix: Prefix + "metric/", Key: control.Text, Format: formats.Monitor, Write: encodeRecord[Metric],
	}
)

func encodeRecord[V any](v *V) []byte { return encode(v) }

func (n Name) text() string { return n.Account + "/" + n.Region + "/" + escape(n.Name) }

func parseName(text string) (n Name, err error) {
	parts := strings.SplitN(text, "/", 3)
	if len(parts) != 3 {
		return n, control.ErrUnknown
	}
	n.Scope = series.Scope{Account: parts[0], Region: parts[1]}
	n.Name, err = url.PathUnescape(parts[2])
	return n, err
}

func readAlarm(_ Name, value []byte) (*Alarm, error) {
	a := &Alarm{size: len(value)}
	return a, json.Unmarshal(value, a)
}

func readAction(id string, value []byte) (*Action, error) {
	a := &Action{id: id}
	return a, json.Unmarshal(value, a)
}

// records holds the records of the store, and what is derived from them.
type records struct {
	alarms     map[Name]*Alarm
	of         map[string]*holding // alarms again, by account
	composites composites
	bands      map[Name]bool // the alarms that use bands of expected values
	waiting    waiting
	dashboards map[string]*Dashboard // by dashboardKey
	ordered    *sortedlist.List[*Dashboard]
	metrics    map[string]*Metric            // one for each unit of a metric; see unit.go
	units      map[string][]string           // the keys of a metric's units, by its hash
	sent       map[string]map[string]*Metric // metrics again, by account
	actions    map[string]*Action
}

func newRecords() (*records, control.Kinds) {
	r := &records{
		composites: newComposites(), bands: make(map[Name]bool), waiting: newWaiting(),
		of: make(map[string]*holding), units: make(map[string][]string),
		sent: make(map[string]map[string]*Metric), ordered: sortedlist.New(byAccountAndName),
	}
	return r, control.Kinds{
		alarmTable.Into(&r.alarms, r.combineAlarm, r.holdAlarm), actionTable.Into(&r.actions),
		dashboardTable.Into(&r.dashboards, control.InOrder[string](r.ordered)),
		metricTable.Into(&r.metrics, r.listUnit, r.listSent),
	}
}

// combineAlarm records which composite alarms depend on an alarm, and whether it uses a band. An invalid rule makes a
// composite alarm that is not evaluated; Check reports it.
func (r *records) combineAlarm(name Name, old, is *Alarm) error {
	if is != nil && is.Composite != nil && !is.Composite.readAs(old) {
		_ = is.Composite.read(is.Scope)
	}
	r.composites.replace(name, old, is)
	r.waiting.replace(name, is)
	if is != nil && is.usesBand() {
		r.bands[name] = true
	} else {
		delete(r.bands, name)
	}
	return nil
}

// holding counts the alarms of an account.
type holding struct {
	alarms map[Name]*Alarm
	bytes  int // of their records
}

// holdAlarm lists an alarm for its account, so that no account pays for the alarms of others.
func (r *records) holdAlarm(name Name, old, is *Alarm) error {
	h := r.of[name.Account]
	if h == nil {
		h = &holding{alarms: make(map[Name]*Alarm)}
		r.of[name.Account] = h
	}
	if old != nil {
		h.bytes -= old.size
		delete(h.alarms, name)
	}
	if is != nil {
		h.bytes += is.size
		h.alarms[name] = is
	}
	if len(h.alarms) == 0 {
		delete(r.of, name.Account)
	}
	return nil
}

// holding returns the holding of an account, which may be empty.
func (r *records) holding(account string) holding {
	if h := r.of[account]; h != nil {
		return *h
	}
	return holding{}
}

// listSent lists a metric for its account, so that no account reads the metrics of others.
func (r *records) listSent(key string, old, is *Metric) error {
	if old != nil {
		of := old.ID.Account
		if delete(r.sent[of], key); len(r.sent[of]) == 0 {
			delete(r.sent, of)
		}
	}
	if is != nil {
		of := is.ID.Account
		if r.sent[of] == nil {
			r.sent[of] = make(map[string]*Metric)
		}
		r.sent[of][key] = is
	}
	return nil
}

// needs returns the formats of composite alarms and of alarms on bands of expected values, which not all programs know
// that know alarms.
func needs(r *records) (all []int) {
	if len(r.composites.families) > 0 {
		all = append(all, formats.Composites)
	}
	if len(r.bands) > 0 {
		all = append(all, formats.Detectors)
	}
	return all
}

// unread is the reader of records that are not kept in memory.
type unread struct{}

// Load implements control.Reader.
func (unread) Load(iter.Seq2[string, []byte]) error { return nil }

// Apply implements control.Reader.
func (unread) Apply([]control.Change) error { return nil }
