package server

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/api/admin"
	"github.com/sluicemq/sluice/internal/encryption"
	"github.com/sluicemq/sluice/internal/keyring"
	"github.com/sluicemq/sluice/internal/tool/wait"
)

// keyWatch asks the key service whether it still opens the keys. If it refuses, or has not answered for a while, the
// keys are suspended, so that operators can withdraw them. The keys themselves are in memory: no request waits for the
// service, and a service that is away for a moment or slow goes unnoticed.
type keyWatch struct {
	config *Config
	log    *slog.Logger
	seals  keyring.Service
	ring   *keyring.Ring
	cipher *encryption.Cipher

	mu      sync.Mutex
	opened  time.Time // when the service last opened the key that encrypts
	problem string    // why it has not since; empty: it has
}

const (
	keyWatchEvery = time.Minute
	// keyWatchRetry is the time from a failure to the next question.
	keyWatchRetry = 10 * time.Second
	// keyWatchPatience is how long the service may leave the server without an answer.
	keyWatchPatience = 5 * time.Minute
)

// newKeyWatch returns the watch of a service that has opened the keys of a ring a moment ago.
func newKeyWatch(c *Config, seals keyring.Service, r *keyring.Ring, cipher *encryption.Cipher) *keyWatch {
	return &keyWatch{config: c, log: c.Logger, seals: seals, ring: r, cipher: cipher, opened: c.Now()}
}

// run asks the service until ctx ends.
func (w *keyWatch) run(ctx context.Context) {
	for pause := keyWatchEvery; wait.For(ctx, pause) == nil; {
		pause = keyWatchEvery
		if err := w.ring.Try(ctx, w.seals); ctx.Err() == nil && !w.note(err) {
			pause = keyWatchRetry
		}
	}
}

// note records the outcome of a question, and suspends or resumes the keys. It reports whether the service has opened
// the key.
func (w *keyWatch) note(err error) bool {
	now := w.config.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		if w.problem != "" {
			w.log.Info("the key service opens the keys again", "service", w.config.EncryptionKeyURL)
		}
		w.opened, w.problem = now, ""
		w.cipher.Resume()
		return true
	}
	if w.problem == "" {
		w.log.Error("the key service does not open the keys", "service", w.config.EncryptionKeyURL, "error", err)
	}
	w.problem = err.Error()
	if keyring.IsRefusal(err) || now.Sub(w.opened) >= keyWatchPatience {
		w.cipher.Suspend(err)
	}
	return false
}

// age returns the time since the service has opened the key that encrypts.
func (w *keyWatch) age() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return max(0, w.config.Now().Sub(w.opened))
}

// describe returns the state of the key service for operators.
func (w *keyWatch) describe() *admin.KeyService {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return &admin.KeyService{URL: w.config.EncryptionKeyURL, OpenedTimestamp: w.opened.UnixMilli(), Failure: w.problem}
}
