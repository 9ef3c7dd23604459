package remote

import (
	"context"
	"errors"

	"github.com/sluicemq/sluice/internal/queue"
)

// The minimum sizes of a row and a name.
const (
	sizeRow        = 3
	sizeSeriesName = 3
)

type seriesArgs struct {
	name     string
	from, to queue.Instant
}

var series = method[seriesArgs, []queue.Row]{
	code: 30,
	putArgs: func(w *writer, a *seriesArgs) {
		w.String(a.name)
		w.Instant(a.from)
		w.Instant(a.to)
	},
	getArgs: func(r *reader) seriesArgs { return seriesArgs{r.String(), r.Instant(), r.Instant()} },
	call: func(s Shard, ctx context.Context, id queue.ID, a seriesArgs) ([]queue.Row, error) {
		return s.Series(ctx, id, a.name, a.from, a.to)
	},
	putResult: func(w *writer, rows []queue.Row) { putAll(w, rows, putRow) },
	getResult: func(r *reader) []queue.Row { return getAll(r, sizeRow, getRow) },
}

// sizedSeries is series with the sizes of messages, which older programs do not know.
var sizedSeries = method[seriesArgs, []queue.Row]{
	code: 40, putArgs: series.putArgs, getArgs: series.getArgs,
	call: func(s Shard, ctx context.Context, id queue.ID, a seriesArgs) ([]queue.Row, error) {
		return s.SizedSeries(ctx, id, a.name, a.from, a.to)
	},
	putResult: func(w *writer, rows []queue.Row) { putAll(w, rows, putSizedRow) },
	getResult: func(r *reader) []queue.Row { return getAll(r, sizeRow+1, getSizedRow) },
}

type namesArgs struct {
	prefix, after string
	since         queue.Instant
}

var seriesNames = method[namesArgs, []queue.SeriesName]{
	code: 31,
	putArgs: func(w *writer, a *namesArgs) {
		w.String(a.prefix)
		w.String(a.after)
		w.Instant(a.since)
	},
	getArgs: func(r *reader) namesArgs { return namesArgs{r.String(), r.String(), r.Instant()} },
	call: func(s Shard, ctx context.Context, _ queue.ID, a namesArgs) ([]queue.SeriesName, error) {
		return s.SeriesNames(ctx, a.prefix, a.after, a.since)
	},
	putResult: func(w *writer, names []queue.SeriesName) { putAll(w, names, putSeriesName) },
	getResult: func(r *reader) []queue.SeriesName { return getAll(r, sizeSeriesName, getSeriesName) },
}

var emptyReceives = method[uint64, none]{
	code:    32,
	putArgs: func(w *writer, n *uint64) { w.Uint(*n) },
	getArgs: func(r *reader) uint64 { return r.Uint() },
	call: func(s Shard, ctx context.Context, id queue.ID, n uint64) (none, error) {
		return none{}, s.EmptyReceives(ctx, id, n)
	},
	putResult: putNone, getResult: getNone,
}

// Series returns the rows of a name.
func (c *Client) Series(ctx context.Context, id queue.ID, name string, from, to queue.Instant) ([]queue.Row, error) {
	return invoke(ctx, c, &series, id, seriesArgs{name, from, to})
}

// SizedSeries is Series of rows with their Sizes. A node that runs an older program leaves them out.
func (c *Client) SizedSeries(
	ctx context.Context, id queue.ID, name string, from, to queue.Instant,
) ([]queue.Row, error) {
	rows, err := invoke(ctx, c, &sizedSeries, id, seriesArgs{name, from, to})
	if errors.Is(err, errOlder) {
		return c.Series(ctx, id, name, from, to)
	}
	return rows, err
}

// SeriesNames returns names that have rows.
func (c *Client) SeriesNames(
	ctx context.Context, prefix, after string, since queue.Instant,
) ([]queue.SeriesName, error) {
	return invoke(ctx, c, &seriesNames, 0, namesArgs{prefix, after, since})
}

// EmptyReceives counts receives of clients that returned no messages.
func (c *Client) EmptyReceives(ctx context.Context, id queue.ID, n uint64) error {
	_, err := invoke(ctx, c, &emptyReceives, id, n)
	return err
}

// putRow writes a row: its time and minutes, the bits of the metrics that are not zero, and their values. A node that
// knows fewer metrics must not ask one that knows more with the same code.
func putRow(w *writer, row *queue.Row) {
	w.Instant(row.Time)
	w.Uint(row.Minutes)
	w.Sparse(queue.Metrics, func(m int) bool { return row.Values[m] != (queue.Value{}) }, func(m int) {
		v := row.Values[m]
		w.Uint(v.Sum)
		w.Uint(v.Min)
		w.Uint(v.Max)
	})
}

func getRow(r *reader, row *queue.Row) {
	row.Time, row.Minutes = r.Instant(), r.Uint()
	r.Sparse(queue.Metrics, func(m int) {
		row.Values[m] = queue.Value{Sum: r.Uint(), Min: r.Uint(), Max: r.Uint()}
	})
}

// putSizedRow writes a row, and the length of its sizes and these.
func putSizedRow(w *writer, row *queue.Row) {
	putRow(w, row)
	w.String(string(row.Sizes.AppendTo(nil)))
}

func getSizedRow(r *reader, row *queue.Row) {
	getRow(r, row)
	var err error
	if row.Sizes, err = queue.ReadSizes([]byte(r.String())); err != nil {
		r.Fail()
	}
}

func putSeriesName(w *writer, n *queue.SeriesName) {
	w.String(n.Name)
	w.Instant(n.Last)
	w.Bool(n.Fair)
}

func getSeriesName(r *reader, n *queue.SeriesName) {
	n.Name, n.Last, n.Fair = r.ownString(), r.Instant(), r.Bool()
}
