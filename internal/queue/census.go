package queue

import "github.com/sluicemq/sluice/internal/search"

// Census asks which values of a key the messages of a queue have, and how many messages have each value.
type Census struct {
	States States
	Filter string // see package search
	Key    string // likewise
	After  PeekCursor
}

// Share is a value and the number of messages that have it.
type Share struct {
	Value      string // its beginning if Cut
	Missing    bool   // these messages have no value
	Cut        bool
	Unreadable bool   // these messages cannot be decrypted
	Term       string // terms of a filter that select these messages; empty: no filter can
	Messages   uint64
	Newest     Instant // when the newest of them was sent
}

// CensusResult is the result of a census, and its progress.
type CensusResult struct {
	Shares  []Share
	Scanned uint64     // messages in the requested states, matching or not
	Found   uint64     // messages that the filter selected
	More    bool       // the census has not reached the end
	Next    PeekCursor // where to continue if More
}

// censusShares limits the different values of one call.
const censusShares = 1000

// Census counts the messages of a queue by their values of a key, in the order of Peek. It ends when it has found
// censusShares different values, or when proceed returns false. The shares of several calls add up.
func (l Look) Census(r Reader, c *Census, proceed func(bytes int) bool) (CensusResult, error) {
	query, err := search.Parse(c.Filter)
	if err != nil {
		return CensusResult{}, err
	}
	key, err := search.ParseKey(c.Key)
	if err != nil {
		return CensusResult{}, err
	}
	s := &sorting{sieve: newSieve(l, r, c.States, c.After, query, proceed), key: key, shares: make(map[shareKey]int)}
	s.full, s.take = func() bool { return len(s.result.Shares) >= censusShares }, s.count
	if err := s.run(); err != nil {
		return CensusResult{}, err
	}
	s.result.Scanned, s.result.More, s.result.Next = s.scanned, s.stopped, s.next(c.After)
	return s.result, nil
}

// sorting is a census in progress.
type sorting struct {
	sieve
	key    *search.Key
	shares map[shareKey]int // indexes of result.Shares
	result CensusResult
}

// shareKey identifies a share.
type shareKey struct {
	value                    string
	missing, cut, unreadable bool
}

// Add adds the shares of another call or of another shard.
func (c *CensusResult) Add(more CensusResult) {
	at := make(map[shareKey]int, len(c.Shares))
	for i := range c.Shares {
		at[c.Shares[i].key()] = i
	}
	for _, share := range more.Shares {
		i, there := at[share.key()]
		if !there {
			c.Shares = append(c.Shares, share)
			continue
		}
		have := &c.Shares[i]
		have.Messages += share.Messages
		have.Newest = max(have.Newest, share.Newest)
	}
	c.Scanned += more.Scanned
	c.Found += more.Found
}

func (s *Share) key() shareKey { return shareKey{s.Value, s.Missing, s.Cut, s.Unreadable} }

// count adds a message to its share.
func (s *sorting) count(Position, []byte, *peekedState) error {
	s.result.Found++
	share := &s.result.Shares[s.shareOf()]
	share.Messages++
	share.Newest = max(share.Newest, Instant(s.item.Sent))
	return nil
}

// shareOf returns the index of the message's share, and adds the share if it is new.
func (s *sorting) shareOf() int {
	if !s.item.readable && s.key.ReadsText() {
		return s.share(shareKey{unreadable: true}, "")
	}
	v := s.key.Of(&s.item.Item)
	if i, there := s.shares[shareKey{string(v.Text), v.Missing, v.Cut, false}]; there { // without a copy of the text
		return i
	}
	return s.share(shareKey{string(v.Text), v.Missing, v.Cut, false}, s.key.Term(v))
}

// share returns the index of a share, and adds the share if it is new.
func (s *sorting) share(k shareKey, term string) int {
	i, there := s.shares[k]
	if !there {
		i = len(s.result.Shares)
		s.shares[k] = i
		s.result.Shares = append(s.result.Shares,
			Share{Value: k.value, Missing: k.missing, Cut: k.cut, Unreadable: k.unreadable, Term: term})
	}
	return i
}
