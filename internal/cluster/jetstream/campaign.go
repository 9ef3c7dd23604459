package jetstream

import (
	"maps"
	"sync"
	"time"
	_ "unsafe" // for go:linkname

	natsserver "github.com/nats-io/nats-server/v2/server"
)

// A follower of NATS's stands for election when it has not heard of the leader for 4 to 9 seconds, and no option
// changes that. Nodes know earlier which of them has died. So they make their servers stand for election at that
// moment. That is better than shorter timeouts: a slow, paused or older server keeps leading while its node sends
// heartbeats, and the many groups need few heartbeats.
//
// RaftNode.Campaign of NATS is exported, and safe at any time, because an election needs the votes of a majority. But
// NATS exports no access to a RaftNode. The code below links to the function that NATS itself uses. TestBorrowedNames,
// in the root of the project, fails if a version of NATS has a different one.

//go:linkname lookupRaftNode github.com/nats-io/nats-server/v2/server.(*Server).lookupRaftNode
func lookupRaftNode(s *natsserver.Server, group string) natsserver.RaftNode

// minCampaignTimeout and maxCampaignTimeout limit how long a server waits after Campaign before it stands for election.
// NATS chooses a random time, because its followers begin at the same time. Here they begin one after the other.
var (
	//go:linkname minCampaignTimeout github.com/nats-io/nats-server/v2/server.minCampaignTimeout
	minCampaignTimeout time.Duration
	//go:linkname maxCampaignTimeout github.com/nats-io/nats-server/v2/server.maxCampaignTimeout
	maxCampaignTimeout time.Duration
)

func init() {
	minCampaignTimeout, maxCampaignTimeout = 10*time.Millisecond, 50*time.Millisecond
}

// campaigns holds a server's state for the groups that have lost their leader.
type campaigns struct {
	mu   sync.Mutex
	next map[string]campaign // by group
}

// campaign holds when a server next stands for election, and the wait after that.
type campaign struct {
	at   time.Time
	then time.Duration
}

// due records that a group has no leader, and reports whether the server must stand for election now. The wait doubles
// each time: standing again ends a running election, and a busy disk takes long to store a vote.
func (c *campaigns) due(group string, turn func() time.Duration, again time.Duration, now time.Time) bool {
	next, known := c.next[group]
	if !known || now.Sub(next.at) > max(next.then, 5*time.Second) { // another death
		next = campaign{now.Add(turn()), again}
	}
	due := !now.Before(next.at)
	if due {
		next = campaign{now.Add(next.then), 2 * next.then}
	}
	c.next[group] = next
	return due
}

// Elect makes this server stand for election in each group without a leader, or whose leader gone reports. turn returns
// how long this server first leaves the election of a stream's group to others, by the name of the stream's log; ""
// stands for any other stream or group. This server stands again after a pause, which doubles each time. Elect returns
// how many groups still have no leader: call it again if there are any.
func (s *Server) Elect(
	gone func(server string) bool, turn func(log string) time.Duration, again time.Duration,
) (left int) {
	s.campaigns.mu.Lock()
	defer s.campaigns.mu.Unlock()
	var logs map[string]string
	for group, g := range s.groups() {
		if g.Observer || g.Leader == g.ID || g.Leader != "" && !gone(g.Peers[g.Leader].Name) {
			delete(s.campaigns.next, group)
			continue
		}
		left++
		due := s.campaigns.due(group, func() time.Duration {
			if logs == nil {
				logs = s.logsByGroup()
			}
			return turn(logs[group])
		}, again, time.Now())
		if !due {
			continue
		}
		if node := lookupRaftNode(s.inner, group); node != nil {
			_ = node.Campaign() // an error means that it already leads
		}
	}
	return left
}

// groups returns the groups that this server is a member of, including the group of all servers.
func (s *Server) groups() map[string]natsserver.RaftzGroup {
	all := make(map[string]natsserver.RaftzGroup)
	for _, account := range []string{dataAcct, natsserver.DEFAULT_SYSTEM_ACCOUNT} {
		if status := s.inner.Raftz(&natsserver.RaftzOptions{AccountFilter: account}); status != nil {
			maps.Copy(all, (*status)[account])
		}
	}
	return all
}

// logsByGroup returns the names of the logs by the groups of their streams.
func (s *Server) logsByGroup() map[string]string {
	logs := make(map[string]string)
	info, err := s.inner.Jsz(&natsserver.JSzOptions{Account: dataAcct, Streams: true, RaftGroups: true})
	if err != nil {
		return logs
	}
	c := Conn{cluster: s.cluster}
	for _, account := range info.AccountDetails {
		for _, stream := range account.Streams {
			if name, ok := c.logOf(stream.Name); ok {
				logs[stream.RaftGroup] = name
			}
		}
	}
	return logs
}
