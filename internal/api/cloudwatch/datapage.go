package cloudwatch

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
)

// position is where a page of GetMetricData begins. Each page is evaluated again, and points and series may have been
// added since the previous page. So position contains no numbers of points: it identifies the series that were shown
// completely, and the time up to which another one was shown.
//
// A token is its text:
//
//	1 byte      version, 1
//	8 bytes     hash of the queries, the window and the order
//	8 bytes     when the first page was evaluated, in milliseconds since 1970: the window is cut where it was cut then
//	2 bytes     the query in which the page before ended; those before it were shown
//	8 bytes     of the series that was shown in part: its hash
//	8 bytes     the time of its last point, in seconds since 1970
//	8 bytes     for each series of the query that was shown whole: its hash
//
// Numbers are big-endian.
type position struct {
	request    uint64
	now        time.Time
	query      int
	part       uint64 // 0: none
	after      int64
	done       []uint64
	descending bool // the points are newest first
}

const (
	tokenVersion = 1
	tokenHead    = 1 + 8 + 8 + 2 + 8 + 8
	// tokenAge is the maximum age of the first page. The client's clock does not matter.
	tokenAge = 24 * time.Hour
)

// position returns the beginning of the requested page.
func (in *getMetricDataInput) position(now time.Time) (*position, error) {
	p := &position{request: in.hash(), now: now, descending: text(in.ScanBy) != oldestFirst}
	if text(in.NextToken) == "" {
		return p, nil
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(*in.NextToken)
	if err != nil || len(b) < tokenHead || (len(b)-tokenHead)%8 != 0 || b[0] != tokenVersion {
		return nil, errToken()
	}
	if binary.BigEndian.Uint64(b[1:]) != p.request {
		return nil, errToken()
	}
	p.now = time.UnixMilli(int64(binary.BigEndian.Uint64(b[9:]))).UTC()
	if p.now.After(now) || now.Sub(p.now) > tokenAge {
		return nil, errToken()
	}
	p.query = int(binary.BigEndian.Uint16(b[17:]))
	p.part, p.after = binary.BigEndian.Uint64(b[19:]), int64(binary.BigEndian.Uint64(b[27:]))
	for rest := b[tokenHead:]; len(rest) > 0; rest = rest[8:] {
		p.done = append(p.done, binary.BigEndian.Uint64(rest))
	}
	return p, nil
}

// hash returns a hash that separates requests without common pages.
func (in *getMetricDataInput) hash() uint64 {
	h := fnv.New64a()
	order := ""
	if text(in.ScanBy) == oldestFirst {
		order = oldestFirst
	}
	_, _ = fmt.Fprintf(h, "%d %d %s", in.StartTime.UnixMilli(), in.EndTime.UnixMilli(), order) // a hash accepts everything
	for _, q := range in.MetricDataQueries {
		_, _ = fmt.Fprintf(h, " %q %q %q %d", text(q.Id), text(q.Expression), text(q.Label), seconds(q.Period))
		if s := q.MetricStat; s != nil {
			_, _ = fmt.Fprintf(h, " %q %q %d", text(s.Stat), text(s.Unit), seconds(s.Period))
			_, _ = fmt.Fprintf(h, " %q %q", text(s.Metric.Namespace), text(s.Metric.MetricName))
			for _, d := range s.Metric.Dimensions {
				_, _ = fmt.Fprintf(h, " %q %q", text(d.Name), text(d.Value))
			}
		}
	}
	return h.Sum64()
}

func (p *position) token() string {
	b := binary.BigEndian.AppendUint64([]byte{tokenVersion}, p.request)
	b = binary.BigEndian.AppendUint64(b, uint64(p.now.UnixMilli()))
	b = binary.BigEndian.AppendUint16(b, uint16(p.query))
	b = binary.BigEndian.AppendUint64(b, p.part)
	b = binary.BigEndian.AppendUint64(b, uint64(p.after))
	for _, hash := range p.done {
		b = binary.BigEndian.AppendUint64(b, hash)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// shownSeries is a series of an answer with its index.
type shownSeries struct {
	metricdata.Result
	query int
	hash  uint64 // of its name; that of the second of a name is another
}

// shown returns the places of the series of an answer.
func (in *getMetricDataInput) shown(results []metricdata.Result) []shownSeries {
	place := make(map[string]int, len(in.MetricDataQueries))
	for i, q := range in.MetricDataQueries {
		place[text(q.Id)] = i
	}
	type named struct{ id, name string }
	times := make(map[named]int)
	out := make([]shownSeries, len(results))
	for i, r := range results {
		n := named{r.ID, r.Name()}
		h := fnv.New64a()
		_, _ = fmt.Fprintf(h, "%d %s", times[n], n.name) // a hash accepts everything
		times[n]++
		out[i] = shownSeries{r, place[r.ID], max(1, h.Sum64())}
	}
	return out
}

// page returns at most that many datapoints from the position on, and the token of the next page. It moves the position
// to the end of the page.
func (p *position) page(all []shownSeries, most int) (out []MetricDataResult, token string) {
	out = []MetricDataResult{}
	for _, s := range p.order(all) {
		points := s.Points
		resumed := s.query == p.query && s.hash == p.part
		if resumed {
			points = p.rest(points)
		}
		switch {
		case s.query < p.query || s.query == p.query && slices.Contains(p.done, s.hash):
			continue
		case resumed && len(points) == 0:
			p.end(&s)
			continue
		case most == 0 && len(points) > 0:
			return out, p.token()
		}
		shown := min(most, len(points))
		out = append(out, showData(&s.Result, points[:shown], shown == len(points)))
		if most -= shown; shown < len(points) {
			p.stop(&s, points[shown-1].Time)
			return out, p.token()
		}
		p.end(&s)
	}
	return out, ""
}

// order moves the partly shown series to the front: new series before it are shown behind it.
func (p *position) order(all []shownSeries) []shownSeries {
	i := slices.IndexFunc(all, func(s shownSeries) bool { return s.query == p.query && s.hash == p.part })
	if i < 0 {
		return all
	}
	out := slices.Clone(all)
	copy(out[1:i+1], all[:i])
	out[0] = all[i]
	return out
}

// rest returns the points after the last one shown.
func (p *position) rest(points []metricdata.Datapoint) []metricdata.Datapoint {
	i := slices.IndexFunc(points, func(d metricdata.Datapoint) bool {
		if p.descending {
			return d.Time.Unix() < p.after
		}
		return d.Time.Unix() > p.after
	})
	if i < 0 {
		return nil
	}
	return points[i:]
}

// enter moves the position to the query of a series.
func (p *position) enter(s *shownSeries) {
	if s.query > p.query {
		p.query, p.done = s.query, nil
	}
	p.part, p.after = 0, 0
}

// end records that a series was shown completely.
func (p *position) end(s *shownSeries) {
	p.enter(s)
	p.done = append(p.done, s.hash)
}

// stop records that a series was shown up to a time.
func (p *position) stop(s *shownSeries, last time.Time) {
	p.enter(s)
	p.part, p.after = s.hash, last.Unix()
}

func showData(r *metricdata.Result, points []metricdata.Datapoint, whole bool) MetricDataResult {
	out := MetricDataResult{
		Id: r.ID, Label: r.Label, StatusCode: "Complete",
		Timestamps: make([]time.Time, len(points)), Values: make([]float64, len(points)),
	}
	if !whole {
		out.StatusCode = "PartialData"
	}
	if r.Dropped {
		out.Messages = []MessageData{dropped}
	}
	for i, p := range points {
		out.Timestamps[i], out.Values[i] = p.Time, p.Value
	}
	return out
}
