package jetstream

import (
	"strconv"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

// A server reads its own records, up to the limits of one read.
func TestRecordsOfTheServer(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	c := newCluster(t, 1, nil)
	l := c.log(0, "nearby")
	for i := range recordsAtOnce + 1 {
		answered(ctx, t, "append",
			func() error { return l.Append(ctx, sharedlog.Position(i), []byte(strconv.Itoa(i))) })
	}
	records, more, kept := l.conn.server.records(l.stream, 2)
	if !kept || !more || len(records) != recordsAtOnce {
		t.Fatalf("%d records, more %v, kept %v", len(records), more, kept)
	}
	for i, r := range records {
		if r.Position != sharedlog.Position(i+2) || string(r.Data) != strconv.Itoa(i+1) {
			t.Fatalf("at %d is %d: %q", i+2, r.Position, r.Data)
		}
	}
	if records, more, kept := l.conn.server.records(l.stream, recordsAtOnce+1); !kept || more || len(records) != 1 {
		t.Errorf("at the end: %d records, more %v, kept %v", len(records), more, kept)
	}
	if _, _, kept := l.conn.server.records(c.conns[0].stream("other"), 1); kept {
		t.Error("the server has a stream that was never created")
	}
}

// A request whose first copies reach dead nodes is answered in time.
func TestLostRequestIsRepeated(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	c := newCluster(t, 1, nil)
	conn := c.conns[0]
	seen := 0
	sub, err := conn.nc.Subscribe("lost", func(m *nats.Msg) {
		if seen++; seen == 3 {
			_ = m.Respond([]byte("here"))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	one, m, err := conn.callUntilAnswered(ctx, "lost", nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer one.close()
	if string(m.Data) != "here" {
		t.Errorf("the answer is %q", m.Data)
	}
}
