package access

import (
	"sync"

	"github.com/sluicemq/sluice/internal/policy"
)

// cacheBytes is how much text of policies there may be in one generation of the
// cache. What is parsed takes several times as much.
const cacheBytes = 2 << 20

// cache keeps the policies of resources, parsed, under their text. It has two
// generations: when the recent one is full it becomes the older one, and what
// is asked for again is taken over.
type cache struct {
	mu            sync.RWMutex
	recent, older map[string]*policy.Policy // nil: not a policy
	size          int                       // of the texts in recent
}

// parse returns the policy that text is, or false if it is none.
func (c *cache) parse(text string) (*policy.Policy, bool) {
	c.mu.RLock()
	p, hit := c.recent[text]
	old := c.older[text]
	c.mu.RUnlock()
	if hit {
		return p, p != nil
	}
	if p = old; p == nil {
		p, _ = policy.Parse(policy.ForResource, text) // nil on an error
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.recent == nil || c.size+len(text) > cacheBytes {
		c.older, c.recent, c.size = c.recent, make(map[string]*policy.Policy), 0
	}
	if _, there := c.recent[text]; !there {
		c.recent[text] = p
		c.size += len(text)
	}
	return p, p != nil
}
