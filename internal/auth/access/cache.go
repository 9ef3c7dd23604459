package access

import (
	"encoding/json"
	"sync"

	"github.com/sluicemq/sluice/internal/aws/policy"
)

// cacheBytes limits the text of policies in one generation of the cache. Parsed policies take several times as much.
const cacheBytes = 2 << 20

// cache keeps parsed policies of resources by their text. It has two generations: when the recent one is full it
// becomes the older one, and entries that are used again move to the new recent one.
type cache struct {
	mu            sync.RWMutex
	recent, older map[string]*policy.Policy // nil: invalid
	size          int                       // of the texts in recent
}

// parse returns the policy in text, or false if it is invalid.
func (c *cache) parse(text string) (*policy.Policy, bool) {
	return c.get(text, func() *policy.Policy {
		p, _ := policy.Parse(policy.ForResource, text) // nil on an error
		return p
	})
}

// parseBound returns the policy in text, with its users and roles bound to ids: a JSON object of unique ids by ARN.
func (c *cache) parseBound(text, ids string) (*policy.Policy, bool) {
	return c.get(ids+text, func() *policy.Policy {
		p, err := policy.Parse(policy.ForResource, text)
		byARN := make(map[string]string)
		if err != nil || json.Unmarshal([]byte(ids), &byARN) != nil {
			return nil
		}
		return p.Bind(byARN)
	})
}

// get returns the entry of key, or the result of make if there is none.
func (c *cache) get(key string, make func() *policy.Policy) (*policy.Policy, bool) {
	c.mu.RLock()
	p, hit := c.recent[key]
	old := c.older[key]
	c.mu.RUnlock()
	if hit {
		return p, p != nil
	}
	if p = old; p == nil {
		p = make()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.recent == nil || c.size+len(key) > cacheBytes {
		c.older, c.recent, c.size = c.recent, map[string]*policy.Policy{}, 0
	}
	if _, there := c.recent[key]; !there {
		c.recent[key] = p
		c.size += len(key)
	}
	return p, p != nil
}
