package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"hash"
	"strings"
	"sync"
)

// signingKey is the key that Version 4 derives from a secret for one scope.
type signingKey struct {
	key  [sha256.Size]byte
	macs sync.Pool // of *mac; making one costs more than using it
}

// mac holds the memory for checking one signature. On the stack, its buffers would double the stack of each connection.
type mac struct {
	hash.Hash
	request []byte // the canonical request
	text    []byte // the string to sign
	sum     [sha256.Size]byte
}

// maxKeptRequest is the largest buffer for canonical requests that is reused. SDKs' requests need half a kilobyte.
const maxKeptRequest = 4 << 10

func deriveKey(secret, scope string) *signingKey {
	k := new(signingKey)
	key := append([]byte("AWS4"), secret...)
	for part := range strings.SplitSeq(scope, "/") {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(part))
		key = h.Sum(k.key[:0])
	}
	return k
}

// verifies reports whether presented is the signature s of r in the interpretation c.
func (k *signingKey) verifies(c *canonical, r *Request, s *Signature, presented *[sha256.Size]byte) bool {
	m, _ := k.macs.Get().(*mac)
	if m == nil {
		m = &mac{Hash: hmac.New(sha256.New, k.key[:])}
	}
	m.request = c.appendRequest(m.request[:0], r, s)
	m.text = s.appendStringToSign(m.text[:0], m.request)
	m.Reset()
	m.Write(m.text)
	ok := hmac.Equal(m.Sum(m.sum[:0]), presented[:])
	if cap(m.request) <= maxKeptRequest {
		k.macs.Put(m)
	}
	return ok
}

// maxSigningKeys limits the cache. An entry takes about half a kilobyte, and there is one per key, day, region and
// service.
const maxSigningKeys = 4096

// signingKeys caches derived keys: deriving one costs as much as the rest of a check. Entries are found by the secret
// itself, so a changed secret is derived again. Only keys that have verified a request are cached, so strangers cannot
// evict others.
type signingKeys struct {
	mu   sync.RWMutex
	keys map[signingKeyID]*signingKey
}

type signingKeyID struct{ secret, scope string }

func (c *signingKeys) get(secret, scope string) *signingKey {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.keys[signingKeyID{secret, scope}]
}

func (c *signingKeys) put(secret, scope string, k *signingKey) {
	// The scope is a substring of a request, and would keep all of it in memory.
	id := signingKeyID{secret, strings.Clone(scope)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.keys == nil {
		c.keys = make(map[signingKeyID]*signingKey)
	}
	if len(c.keys) >= maxSigningKeys {
		for old := range c.keys { // any will do: one that is still in use comes back with its next request
			delete(c.keys, old)
			break
		}
	}
	c.keys[id] = k
}
