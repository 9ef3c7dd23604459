package queue

import (
	"cmp"
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/sluicemq/sluice/internal/formats"
)

// TestScripts runs the stories in testdata; their language is described in
// testdata/README.md.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		t.Parallel()
		s := new(script)
		s.begin(t)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.rig.t, s.pos = t, d.Pos
			lines := []string{d.FullCmd()}
			if d.Input != "" {
				lines = append(lines, strings.Split(d.Input, "\n")...)
			}
			s.out.Reset()
			for _, line := range lines {
				s.run(line)
			}
			return s.out.String()
		})
		s.rig.close()
	})
}

type script struct {
	rig     *rig
	pos     string
	out     strings.Builder
	ids     map[string]ID
	lastID  ID
	bodies  map[MessageID]string
	handles map[string]Delivery // by name
	names   map[given]string    // of handles
	counts  map[string]int      // handles of each body
	waits   map[string]Position // in outboxes, by body
	hidden  map[ID]Config       // queues that an outdated list lacks
}

// given is one delivery of a message.
type given struct {
	queue   ID
	pos     Position
	receipt uint64
}

// begin makes a world without queues, at time 0.
func (s *script) begin(t failer) {
	s.rig, s.ids, s.lastID, s.bodies = newRig(t), make(map[string]ID), 0, make(map[MessageID]string)
	s.handles, s.names, s.counts = make(map[string]Delivery), make(map[given]string), make(map[string]int)
	s.waits, s.hidden = make(map[string]Position), make(map[ID]Config)
}

// hide removes a queue from the list that reload uses, until it is revealed.
func (s *script) hide(id ID) {
	s.hidden[id] = s.rig.configs[slices.IndexFunc(s.rig.configs, func(c Config) bool { return c.ID == id })]
	s.rig.hide(id)
}

// discard deletes messages by their ids, and prints the deleted ones.
func (c *command) discard() {
	id := c.id()
	var ids []MessageID
	for len(c.words) > 0 {
		want := c.word()
		for mid, body := range c.s.bodies {
			if body == want {
				ids = append(ids, mid)
			}
		}
	}
	var gone []string
	for _, mid := range c.s.rig.discard(id, ids) {
		gone = append(gone, c.s.bodies[mid])
	}
	slices.Sort(gone)
	c.s.print("discarded %s", cmp.Or(strings.Join(gone, " "), "nothing"))
}

// unknown prints the unknown queues of which the engine has data.
func (c *command) unknown(e *Engine) error {
	var names []string
	for name, id := range c.s.ids {
		if slices.Contains(e.Unknown(), id) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	c.s.print("unknown: %s", strings.Join(names, " "))
	return nil
}

func (s *script) fail(format string, args ...any) {
	s.rig.t.Helper()
	s.rig.t.Fatalf("%s: %s", s.pos, fmt.Sprintf(format, args...))
}

func (s *script) print(format string, args ...any) {
	fmt.Fprintf(&s.out, format+"\n", args...)
}

// since prints an instant as the time since the script began.
func since(i Instant) string { return i.Sub(epoch).String() }

// command is one line of a script: words, and settings of the form name=value.
type command struct {
	s        *script
	words    []string
	settings map[string]string
}

func (s *script) run(line string) {
	s.rig.t.Helper()
	c := &command{s: s, settings: make(map[string]string)}
	for _, word := range strings.Fields(line) {
		if name, value, ok := strings.Cut(word, "="); ok {
			c.settings[name] = value
		} else {
			c.words = append(c.words, word)
		}
	}
	verbs := map[string]func(*command, *Engine) error{
		"send": (*command).send, "batch": (*command).batch, "flood": (*command).flood,
		"heavy": (*command).heavy, "receive": (*command).receive, "delete": (*command).delete,
		"visibility": (*command).visibility,
		"return":     (*command).giveBack, "shorten": (*command).shorten, "counts": (*command).count,
		"available": (*command).available,
		"purge":     (*command).purge, "move": (*command).move, "cancel": (*command).cancel, "moves": (*command).moves,
		"outcomes": (*command).outcomes,
		"describe": (*command).describe, "show": (*command).show, "wake": (*command).wake,
		"ready": (*command).ready, "forwarded": (*command).forwarded, "accept": (*command).accept,
		"outbox": (*command).outbox, "peek": (*command).peek, "state": (*command).state, "groups": (*command).groups,
		"publish":     (*command).publish,
		"deliverable": (*command).deliverable,
		"start":       (*command).startCounting, "empty": (*command).empty, "rows": (*command).rows,
		"names": (*command).names, "totals": (*command).totals,
		"happens": (*command).happens, "use": (*command).use, "used": (*command).used, "unknown": (*command).unknown,
	}
	verb := c.word()
	switch verb {
	case "begin":
		t := s.rig.t
		s.rig.close()
		s.begin(t)
		if len(c.words) > 0 && c.word() == "series" {
			s.rig.keep = c.keep()
			s.rig.reload()
		}
	case "queue":
		c.queue()
	case "drop":
		name := c.word()
		s.rig.drop(s.id(name))
		delete(s.ids, name)
	case "forget":
		s.rig.forget(c.id())
	case "discard":
		c.discard()
	case "hide":
		s.hide(c.id())
	case "reveal":
		s.rig.configure(s.hidden[c.id()])
	case "advance":
		s.rig.advance(c.duration(c.word()))
	case "jump":
		s.rig.jump(c.duration(c.word()))
	case "reload":
		s.rig.reload()
	case "remember": // a delivery under another name, before a repetition takes its own
		d := s.handles[c.word()]
		s.handles[c.word()] = d
	case "lose":
		verb = c.word()
		if verbs[verb] == nil {
			s.fail("%s cannot be lost", verb)
		}
		s.rig.lose(func(e *Engine) error { return verbs[verb](c, e) })
	default:
		if verbs[verb] == nil {
			s.fail("no command %q", verb)
		}
		if err := s.rig.do(func(e *Engine) error { return verbs[verb](c, e) }); err != nil {
			s.print("refused: %v", err)
		}
	}
	if len(c.words) > 0 || len(c.settings) > 0 {
		s.fail("%s: not understood: %v %v", verb, c.words, c.settings)
	}
}

// word removes the next word from the line.
func (c *command) word() string {
	if len(c.words) == 0 {
		c.s.fail("a word is missing")
	}
	w := c.words[0]
	c.words = c.words[1:]
	return w
}

// rest removes all words from the line.
func (c *command) rest() []string {
	words := c.words
	c.words = nil
	return words
}

// flag removes a word from the line if it is there.
func (c *command) flag(word string) bool {
	i := slices.Index(c.words, word)
	if i >= 0 {
		c.words = slices.Delete(c.words, i, i+1)
	}
	return i >= 0
}

// setting removes a setting from the line.
func (c *command) setting(name string) (string, bool) {
	v, ok := c.settings[name]
	delete(c.settings, name)
	return v, ok
}

func (c *command) duration(v string) time.Duration {
	d, err := time.ParseDuration(v)
	if err != nil {
		c.s.fail("%v", err)
	}
	return d
}

func (c *command) number(v string) int {
	n, err := strconv.Atoi(v)
	if err != nil {
		c.s.fail("%v", err)
	}
	return n
}

// timeout returns the setting of that name, or nil.
func (c *command) timeout(name string) *time.Duration {
	if v, ok := c.setting(name); ok {
		d := c.duration(v)
		return &d
	}
	return nil
}

func (s *script) id(name string) ID {
	id, ok := s.ids[name]
	if !ok {
		s.fail("no queue %q", name)
	}
	return id
}

func (c *command) id() ID { return c.s.id(c.word()) }

func (c *command) queue() {
	s, name := c.s, c.word()
	cfg := Config{
		ARN: name, Created: epoch, Visibility: 30 * time.Second, Retention: 96 * time.Hour,
	}
	if id, ok := s.ids[name]; ok && s.rig.known(id) {
		cfg = s.rig.configs[slices.IndexFunc(s.rig.configs, func(c Config) bool { return c.ID == id })]
	} else {
		s.lastID++
		cfg.ID = s.lastID
		s.ids[name] = cfg.ID
	}
	cfg.FIFO = c.flag("fifo") || cfg.FIFO
	cfg.Internal = c.flag("internal") || cfg.Internal
	cfg.PurgeAnytime = c.flag("purge-anytime") || cfg.PurgeAnytime
	later := c.flag("later")
	elsewhere := cfg.Elsewhere
	if cfg.Elsewhere = c.flag("elsewhere"); elsewhere != cfg.Elsewhere && s.rig.known(cfg.ID) {
		if err := s.rig.do(func(e *Engine) error { return e.Configure(cfg) }); err != nil {
			s.print("refused: %v", err)
			return
		}
	}
	for setting, value := range c.settings {
		switch setting {
		case "delay":
			cfg.Delay = c.duration(value)
		case "visibility":
			cfg.Visibility = c.duration(value)
		case "retention":
			cfg.Retention = c.duration(value)
		case "rate":
			messages, per, _ := strings.Cut(value, "/")
			cfg.Limits.Rate = Rate{c.number(messages), c.duration(per)}
		case "inflight":
			cfg.Limits.InFlight = c.number(value)
		case "paused":
			cfg.Limits.Paused = value == "yes"
		case "pausedgroups":
			cfg.PausedGroups = strings.FieldsFunc(value, func(r rune) bool { return r == ',' })
		case "sealed":
			cfg.Sealed = value == "yes"
		case "limit":
			cfg.MaxInFlight = c.number(value)
		case "part":
			part, parts, _ := strings.Cut(value, "/")
			cfg.Part, cfg.Parts = c.number(part), c.number(parts)
		case "dedup":
			cfg.DedupPerGroup = value == "group"
		case "dlq":
			cfg.Redrive = nil
			if target, count, ok := strings.Cut(value, ":"); ok {
				cfg.Redrive = &Redrive{Target: target, MaxReceives: c.number(count)}
			}
		default:
			s.fail("no attribute %q", setting)
		}
	}
	clear(c.settings)
	if later {
		s.rig.configs[slices.IndexFunc(s.rig.configs, func(c Config) bool { return c.ID == cfg.ID })] = cfg
		return
	}
	s.rig.configure(cfg)
}

// outgoing makes a message of [group/]body[:dedup][+delay].
func (c *command) outgoing(spec string) Outgoing {
	o := Outgoing{Sender: "AIDA"}
	if body, delay, ok := strings.Cut(spec, "+"); ok {
		d := c.duration(delay)
		spec, o.Delay = body, &d
	}
	if group, body, ok := strings.Cut(spec, "/"); ok {
		spec, o.Group = body, group
	}
	o.Body, o.Dedup, _ = strings.Cut(spec, ":")
	if o.Dedup == "" {
		o.Dedup = o.Body
	}
	binary.BigEndian.PutUint64(o.ID[8:], uint64(len(c.s.bodies)+1))
	o.BodyMD5 = md5.Sum([]byte(o.Body))
	c.s.bodies[o.ID] = o.Body
	return o
}

func (c *command) send(e *Engine) error {
	id := c.id()
	for _, spec := range c.rest() {
		if err := c.sendAll(e, id, []string{spec}); err != nil {
			return err
		}
	}
	return nil
}

func (c *command) batch(e *Engine) error { return c.sendAll(e, c.id(), c.rest()) }

func (c *command) sendAll(e *Engine, id ID, specs []string) error {
	var out []Outgoing
	for _, spec := range specs {
		out = append(out, c.outgoing(spec))
	}
	sent, err := e.Send(id, out)
	if err != nil {
		return err
	}
	if len(sent) != len(out) {
		c.s.fail("%d answers to %d messages", len(sent), len(out))
	}
	for i, o := range out {
		switch {
		case sent[i].Duplicate:
			c.s.print("%s is a duplicate of %s", o.Body, c.s.bodies[sent[i].ID])
		case sent[i].ID != o.ID:
			c.s.fail("%s was sent with id %v and answered with %v", o.Body, o.ID, sent[i].ID)
		}
	}
	return nil
}

// flood sends many copies of a message, with their numbers at the end of the body.
func (c *command) flood(e *Engine) error {
	id, spec, n := c.id(), c.word(), c.number(c.word())
	var specs []string
	for i := range n {
		body, delay, _ := strings.Cut(spec, "+")
		if body += strconv.Itoa(i + 1); delay != "" {
			body += "+" + delay
		}
		specs = append(specs, body)
	}
	return c.sendAll(e, id, specs)
}

// heavy is flood with bodies of 256 KiB.
func (c *command) heavy(e *Engine) error {
	id, body, n := c.id(), c.word(), c.number(c.word())
	var out []Outgoing
	for i := range n {
		o := c.outgoing(body + strconv.Itoa(i+1))
		o.Body += strings.Repeat(".", 256<<10)
		out = append(out, o)
	}
	_, err := e.Send(id, out)
	return err
}

func (c *command) receive(e *Engine) error {
	s, id := c.s, c.id()
	r := Receive{Max: 10, Timeout: c.timeout("visibility")}
	if v, ok := c.setting("max"); ok {
		r.Max = c.number(v)
	}
	r.Attempt, _ = c.setting("attempt")
	quiet := c.flag("quietly")
	given, err := e.Receive(id, r)
	if err != nil {
		return err
	}
	words := []string{"got"}
	for _, d := range given {
		words = append(words, s.handle(e, id, d))
	}
	switch {
	case len(given) == 0:
		s.print("got nothing")
	case quiet:
		s.print("got %d", len(given))
	default:
		s.print("%s", strings.Join(words, " "))
	}
	return nil
}

// handle names a delivery by the body and the number of its deliveries. A different receive count follows in brackets.
func (s *script) handle(e *Engine, id ID, d Delivery) string {
	m, err := ReadMessage(e.tx.Get, id, d.Position)
	if err != nil || m == nil {
		s.fail("received %+v, which is %v, %v", d, m, err)
	}
	name, again := s.names[given{id, d.Position, d.Receipt}]
	if !again {
		s.counts[m.Body]++
		name = fmt.Sprintf("%s#%d", m.Body, s.counts[m.Body])
		s.names[given{id, d.Position, d.Receipt}] = name
	}
	s.handles[name] = d
	if count := m.PriorReceives + d.Receives; count != uint64(s.counts[m.Body]) {
		return fmt.Sprintf("%s(count %d)", name, count)
	}
	return name
}

// deliveries removes the handles from the line.
func (c *command) deliveries() (names []string, given []Delivery) {
	names = c.rest()
	for _, name := range names {
		d, ok := c.s.handles[name]
		if !ok {
			c.s.fail("no handle %q", name)
		}
		given = append(given, d)
	}
	return names, given
}

func (c *command) results(names []string, results []error) {
	if len(results) != len(names) {
		c.s.fail("%d answers to %d handles", len(results), len(names))
	}
	for i, err := range results {
		if err != nil {
			c.s.print("%s: %v", names[i], err)
		}
	}
}

func (c *command) delete(e *Engine) error {
	id := c.id()
	names, given := c.deliveries()
	var receipts []Receipt
	for _, d := range given {
		receipts = append(receipts, Receipt{d.Position, d.Receipt})
	}
	results, err := e.Delete(id, receipts)
	if err == nil {
		c.results(names, results)
	}
	return err
}

func (c *command) visibility(e *Engine) error {
	id, timeout := c.id(), c.duration(c.word())
	names, given := c.deliveries()
	var changes []Visibility
	for _, d := range given {
		changes = append(changes, Visibility{Receipt{d.Position, d.Receipt}, timeout})
	}
	results, err := e.ChangeVisibility(id, changes)
	if err == nil {
		c.results(names, results)
	}
	return err
}

func (c *command) giveBack(e *Engine) error {
	id := c.id()
	attempt, _ := c.setting("attempt")
	_, given := c.deliveries()
	return e.Return(id, given, attempt)
}

func (c *command) shorten(e *Engine) error {
	id := c.id()
	attempt, _ := c.setting("attempt")
	n := c.number(c.word())
	_, given := c.deliveries()
	return e.Shorten(id, given, n, attempt)
}

func (c *command) count(e *Engine) error {
	n, err := e.Counts(c.id())
	if err == nil {
		c.s.print("visible %d, in flight %d, delayed %d", n.Visible, n.InFlight, n.Delayed)
	}
	return err
}

func (c *command) available(e *Engine) error {
	c.s.print("available: %v", e.Available(c.id()))
	return nil
}

// keep reads how long series are kept.
func (c *command) keep() Keep {
	k := DefaultKeep
	if len(c.words) > 0 && c.word() == "later" {
		k.UpTo = formats.Series - 1
	}
	for name, d := range map[string]*time.Duration{"minutes": &k.Minutes, "five": &k.FiveMinutes, "hours": &k.Hours} {
		if v, ok := c.setting(name); ok {
			*d = c.duration(v)
		}
	}
	return k
}

func (c *command) startCounting(e *Engine) error { e.Allow(formats.Names); return nil }

// use prints the known use of queues.
func (c *command) use(e *Engine) error {
	for len(c.words) > 0 {
		name := c.word()
		u, ok, err := e.Use(c.s.ids[name])
		switch {
		case err != nil:
			return err
		case !ok:
			c.s.print("%s: unknown", name)
			continue
		}
		words := []string{fmt.Sprintf("%s: %d messages", name, u.Messages)}
		if u.Last != 0 {
			words = append(words, "used until "+since(u.Last))
		}
		if u.Sealed {
			words = append(words, "sealed")
		}
		c.s.print("%s", strings.Join(words, ", "))
	}
	return nil
}

func (c *command) used(e *Engine) error { return e.Used(c.id()) }

func (c *command) empty(e *Engine) error { e.CountEmptyReceives(c.id(), 1); return nil }

var metricNames = [Metrics]string{
	"sent", "bytes", "received", "empty", "deleted", "deduplicated", "expired", "dead-lettered", "moved",
	"visible", "in flight", "delayed", "age", "groups", "noisy", "quiet visible", "quiet in flight", "quiet delayed",
	"quiet age",
}

// rows prints the rows of a name that are newer than a time. There need not be a queue of that name.
func (c *command) rows(*Engine) error {
	from := epoch.Add(-time.Hour)
	if v, ok := c.setting("since"); ok {
		from = epoch.Add(c.duration(v))
	}
	_, topic := c.setting("topic")
	rows, err := Series(c.s.rig.keys.sorted().Get, c.word(), minuteOf(from), minuteOf(c.s.rig.now)+hour)
	if v, ok := c.setting("max"); ok {
		rows = rows[:min(len(rows), c.number(v))]
	}
	for _, r := range rows {
		line := r.Time.Time().Format("15:04")
		if r.Minutes != 1 {
			line += fmt.Sprintf(" %d minutes", r.Minutes)
		}
		for m, v := range r.Values {
			names := metricNames[:]
			if topic {
				names = topicMetricNames[:]
			}
			switch {
			case v == Value{}:
			case v.Min == v.Max && v.Max == v.Sum:
				line += fmt.Sprintf(", %s %d", names[m], v.Sum)
			default:
				line += fmt.Sprintf(", %s %d (%d to %d)", names[m], v.Sum, v.Min, v.Max)
			}
		}
		c.s.print("%s", line)
	}
	return err
}

// names prints the names that have series.
func (c *command) names(*Engine) error {
	since := Instant(0)
	if v, ok := c.setting("since"); ok {
		since = epoch.Add(c.duration(v))
	}
	names, err := SeriesNames(c.s.rig.keys.sorted(), "", "", since)
	for _, n := range names {
		c.s.print("%s until %s, fair %t", n.Name, n.Last.Time().Add(time.Hour).Format("Jan 2 15:04"), n.Fair)
	}
	return err
}

func (c *command) totals(e *Engine) error {
	line := ""
	for m, n := range e.Totals() {
		if n != 0 {
			line += fmt.Sprintf("%s %d ", metricNames[m], n)
		}
	}
	c.s.print("totals: %s", strings.TrimSpace(line))
	return nil
}

func (c *command) wake(e *Engine) error {
	at := e.NextWake()
	if at == never {
		c.s.print("wakes never")
	} else {
		c.s.print("wakes at %s", since(at))
	}
	return nil
}

func (c *command) purge(e *Engine) error {
	p := Purging{Queue: c.id()}
	if v, ok := c.setting("marks"); ok {
		for _, mark := range strings.Split(v, ",") {
			shard, position, _ := strings.Cut(mark, ":")
			p.Marks = append(p.Marks, Mark{From: FromShard{c.number(shard)}, UpTo: Position(c.number(position))})
		}
	}
	_, err := e.Purge(p)
	return err
}

func (c *command) move(e *Engine) error {
	id := c.id()
	task := MoveTask{ID: c.word()}
	task.Destination, _ = c.setting("to")
	if v, ok := c.setting("sources"); ok {
		for name := range strings.SplitSeq(v, ",") {
			task.Sources = append(task.Sources, c.s.id(name))
		}
	}
	if v, ok := c.setting("rate"); ok {
		task.Rate = c.number(v)
	}
	task.Selection = c.selection(e, id)
	return e.StartMove(id, task)
}

// selection removes from the line what a task selects and edits, or returns nil.
func (c *command) selection(e *Engine, id ID) *Selection {
	s := new(Selection)
	filter, some := c.setting("filter")
	s.Filter = strings.ReplaceAll(filter, "_", " ")
	if v, ok := c.setting("ids"); ok {
		for body := range strings.SplitSeq(v, ",") {
			for _, m := range c.s.rig.stored(id) {
				if m.Body == body {
					s.IDs = append(s.IDs, m.ID)
				}
			}
		}
		some = true
	}
	edit := &Edit{MaxSize: 1 << 20, MaxAttributes: 10}
	if v, ok := c.setting("body"); ok {
		edit.Body, edit.BodyMD5 = &v, md5.Sum([]byte(v))
		s.Edit, some = edit, true
	}
	if v, ok := c.setting("attribute"); ok {
		name, value, _ := strings.Cut(v, ":")
		edit.Set = append(edit.Set, Attribute{Name: name, Type: "String", Value: value})
		s.Edit, some = edit, true
	}
	if v, ok := c.setting("most"); ok {
		edit.MaxSize = c.number(v)
	}
	if !some {
		return nil
	}
	return s
}

// results of a task.
func (c *command) outcomes(e *Engine) error {
	tasks, err := e.Moves(c.id())
	if err != nil {
		return err
	}
	t := tasks[0]
	c.s.print("%s: %s, scanned %d of %d, moved %d, skipped %d", t.ID, t.Status, t.Scanned, t.ToMove, t.Moved, t.Skipped)
	for _, r := range t.Results {
		c.s.print("%s: %s", c.s.bodies[r.ID],
			[...]string{"", "moved", "not visible", "no source", "no destination", "too large"}[r.Outcome])
	}
	return nil
}

func (c *command) cancel(e *Engine) error {
	task, err := e.CancelMove(c.id(), c.word())
	if err == nil {
		c.s.print("%s", describeTask(task))
	}
	return err
}

func (c *command) moves(e *Engine) error {
	tasks, err := e.Moves(c.id())
	for _, t := range tasks {
		c.s.print("%s", describeTask(t))
	}
	return err
}

func describeTask(t MoveTask) string {
	out := fmt.Sprintf("%s: %s, moved %d of %d", t.ID, t.Status, t.Moved, t.ToMove)
	if t.Failure != "" {
		out += ", " + t.Failure
	}
	return out
}

// describe prints the contents of a queue: the messages with their states, and the groups in the order of service.
func (c *command) describe(e *Engine) error {
	id := c.id()
	q, err := e.queueAtPresent(id)
	if err != nil {
		return err
	}
	var turns []string
	lo, hi := tableRange(id, tableMessage)
	err = e.tx.Scan(lo, hi, func(k, v []byte) bool {
		p := Position(tail(k, 0))
		m, err := decodeMessage(v)
		if err != nil {
			c.s.fail("%v", err)
		}
		name := m.Body
		if m.Group != "" {
			name = m.Group + "/" + name
		}
		c.s.print("%v %s: %s", p, name, q.stateOf(p, m))
		return true
	})
	if err != nil {
		return err
	}
	places, err := q.firstTurns(100)
	if err != nil {
		return err
	}
	for el := q.groups.ready.Front(); el != nil; el = el.Next() {
		g := el.Value.(*activeGroup)
		places = append(places, turn{g.name, g.order})
	}
	slices.SortFunc(places, func(a, b turn) int { return int(a.order) - int(b.order) })
	for _, p := range places {
		if p.name == "" {
			p.name = "(none)"
		}
		turns = append(turns, p.name)
	}
	if len(turns) > 0 {
		c.s.print("turns: %s", strings.Join(turns, " "))
	}
	return nil
}

// outbox prints the messages that wait in an outbox, in order.
func (c *command) outbox(e *Engine) error {
	id := c.id()
	most := 1000
	if v, ok := c.setting("max"); ok {
		most = c.number(v)
	}
	from, n, err := e.Outbox(id)
	if err != nil {
		return err
	}
	waiting, err := ReadOutbox(e.tx, id, from, most, 1<<20)
	words := []string{strconv.FormatUint(n, 10), "wait:"}
	for _, a := range waiting {
		body := a.Message.Body
		c.s.waits[body] = a.Position
		if a.Copy {
			body += "(copy)"
		}
		words = append(words, body)
	}
	c.s.print("%s", strings.Join(words, " "))
	return err
}

// forwarded removes the messages up to a printed one.
func (c *command) forwarded(e *Engine) error {
	id := c.id()
	if c.flag("beyond") {
		return e.Forwarded(id, e.outboxes.at[id].last+1)
	}
	return e.Forwarded(id, c.s.waits[c.word()])
}

// ready prints the outboxes that have become non-empty.
func (c *command) ready(e *Engine) error {
	words := []string{"ready:"}
	for _, id := range e.OutboxReady() {
		words = append(words, e.outboxes.at[id].arn)
	}
	c.s.print("%s", strings.Join(words, " "))
	return nil
}

// deliverable prints the queues of subscriptions that have become available.
func (c *command) deliverable(e *Engine) error {
	words := []string{"deliverable:"}
	for _, id := range e.Deliverable() {
		words = append(words, e.queues[id].cfg.ARN)
	}
	c.s.print("%s", strings.Join(words, " "))
	return nil
}

// accept accepts messages of the form POSITION:MESSAGE from another shard. They were sent when the script began.
func (c *command) accept(e *Engine) error {
	id := c.id()
	var from FromShard
	if v, ok := c.setting("shard"); ok {
		from.Shard = c.number(v)
	}
	source, _ := c.setting("source")
	isCopy := c.flag("copies")
	var all []Transfer
	for _, word := range c.rest() {
		position, spec, _ := strings.Cut(word, ":")
		o := c.outgoing(spec)
		m := o.message(epoch)
		m.Source = source
		all = append(all, Transfer{Position: Position(c.number(position)), Message: *m, Copy: isCopy})
	}
	return e.Accept(id, from, all)
}

// publish publishes each message to the queues, in one call.
func (c *command) publish(e *Engine) error {
	names := strings.Split(c.word(), ",")
	topic := ID(0)
	if v, ok := c.setting("topic"); ok {
		topic = c.s.id(v)
	}
	var all []Publication
	counted, counts := c.setting("count")
	for _, spec := range c.rest() {
		o := c.outgoing(spec)
		p := Publication{Topic: topic, ID: o.ID, Group: o.Group, Dedup: o.Dedup}
		if counts {
			p.Count = &TopicCount{Topic: counted, Counts: [TopicMetrics]uint64{
				TopicPublished: 1, TopicPublishedBytes: uint64(len(o.Body)), TopicDelivered: uint64(len(names)),
			}}
		}
		for i, name := range names {
			if name == "nobody" {
				continue
			}
			id, ok := c.s.ids[name]
			if !ok {
				id = deletedBefore
			}
			binary.BigEndian.PutUint32(o.ID[:], uint32(i+1))
			c.s.bodies[o.ID] = o.Body
			p.Copies = append(p.Copies, Copy{Queue: id, Message: o})
		}
		all = append(all, p)
	}
	published, err := e.Publish(all)
	if err != nil {
		return err
	}
	for i, p := range published {
		switch {
		case p.Duplicate:
			c.s.print("%s is a duplicate of %s, sequence %d", c.s.bodies[all[i].ID], c.s.bodies[p.ID], p.Sequence)
		case p.ID != all[i].ID:
			c.s.fail("published with id %v and answered with %v", all[i].ID, p.ID)
		case p.Sequence != 0:
			c.s.print("%s has sequence %d", c.s.bodies[p.ID], p.Sequence)
		}
	}
	return nil
}

func (q *queue) stateOf(p Position, m *Message) string {
	waits, at := q.rows.delayKey(q.cfg.ID, m.SentAt, p), m.SentAt
	if !q.cfg.FIFO && p.indexed() {
		b, _ := q.tx.Get(q.rows.ageKey(q.cfg.ID, m.SentAt, p))
		at = readRecord(b).Instant()
		waits = q.rows.delayKey(q.cfg.ID, at, p)
	}
	if b, _ := q.tx.Get(waits); b != nil {
		return "delayed until " + since(q.delays.endOf(at))
	}
	switch r := q.held.at[p]; {
	case r == nil:
		return "available"
	case r.inFlight:
		return fmt.Sprintf("in flight until %s, received %d", since(r.deadline), r.receives)
	default:
		return fmt.Sprintf("returned, received %d", r.receives)
	}
}

// show prints the fields of a message.
func (c *command) show(*Engine) error {
	id := c.id()
	stored := c.s.rig.stored(id)
	for _, body := range c.rest() {
		for _, p := range slices.Sorted(maps.Keys(stored)) {
			m := stored[p]
			if m.Body != body {
				continue
			}
			origin := c.s.bodies[m.ID]
			if origin == "" {
				origin = "new"
			}
			out := fmt.Sprintf("%s: id %s, sent %s, dedup %q", m.Body, origin, since(m.SentAt), m.Dedup)
			if m.Group != "" {
				out += ", group " + m.Group
			}
			if m.Sequence != 0 {
				out += fmt.Sprintf(", sequence %d", m.Sequence)
			}
			if m.Source != "" {
				out += ", from " + m.Source
			}
			if m.PriorReceives != 0 {
				out += fmt.Sprintf(", received %d before, first %s", m.PriorReceives, since(m.PriorFirst))
			}
			c.s.print("%s", out)
		}
	}
	return nil
}

// topicMetricNames are the names of a topic's metrics in scripts.
var topicMetricNames = [TopicMetrics]string{
	"published", "bytes", "delivered", "failed", "redriven", "not redriven", "filtered", "no attributes", "attributes",
	"body", "invalid attributes",
	"invalid body",
}

// happens counts an event of a topic.
func (c *command) happens(e *Engine) error {
	count := TopicCount{Topic: c.word()}
	for m, name := range topicMetricNames {
		if v, ok := c.setting(strings.ReplaceAll(name, " ", "-")); ok {
			count.Counts[m] = uint64(c.number(v))
		}
	}
	return e.CountTopic(&count)
}
