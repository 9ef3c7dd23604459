package declared

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/tool/wait"
)

// Connect returns an API for a scope.
type Connect func(ctx context.Context, s Scope) (API, error)

// Session reads and changes resources.
type Session struct {
	home    Scope
	connect Connect
	apis    map[Scope]API
	topics  map[Ref][]*Actual // the subscriptions of topics, once read

	// Made receives the access keys that are created for users. If it fails, the key is deleted again.
	Made func(Key) error
	// Waiting receives a sentence when an apply begins to wait. It may be nil.
	Waiting func(string)
	// Pause waits; NewSession uses the machine's clock.
	Pause func(ctx context.Context, d time.Duration) error
}

// Key is an access key that was created for a user.
type Key struct {
	Account         string
	Elsewhere       bool `json:"-"` // the account differs from that of the keys in use
	UserName        string
	AccessKeyId     string
	SecretAccessKey string
}

// NewSession returns a session of the account and region that are home.
func NewSession(home Scope, connect Connect) *Session {
	return &Session{
		home: home, connect: connect, apis: make(map[Scope]API), topics: make(map[Ref][]*Actual), Pause: wait.For,
	}
}

// api returns the client of the API in the scope of a resource. Resources of an account are read in any region.
func (s *Session) api(ctx context.Context, scope Scope) (API, error) {
	if a := s.apis[scope]; a != nil {
		return a, nil
	}
	a, err := s.connect(ctx, scope)
	if err == nil {
		s.apis[scope] = a
	}
	return a, err
}

// keeper reads and changes resources of one kind.
type keeper interface {
	// read returns a resource, or nil if there is none.
	read(ctx context.Context, r Ref) (*Actual, error)
	// create creates a resource with settings and a tag with the name of the file.
	create(ctx context.Context, r Ref, settings Settings, by string) error
	// update changes settings of a resource.
	update(ctx context.Context, is *Actual, changes []Change) error
	remove(ctx context.Context, is *Actual) error
	// list returns all resources of a scope.
	list(ctx context.Context, s Scope) ([]Ref, error)
}

func (s *Session) keeper(ctx context.Context, r Ref) (keeper, error) {
	api, err := s.api(ctx, r.Scope)
	if err != nil {
		return nil, err
	}
	switch r.Kind {
	case QueueKind:
		return queues{api, s}, nil
	case TopicKind:
		return topics{api}, nil
	case SubscriptionKind:
		return subscriptions{api, s}, nil
	case AlarmKind:
		return alarms{api, metricAlarms}, nil
	case CompositeKind:
		return alarms{api, compositeAlarms}, nil
	case PolicyKind:
		return policies{api}, nil
	case LimitKind:
		return limits{api, s.home}, nil
	}
	return entities{api, s, r.Kind}, nil
}

// Plan returns the steps that bring the existing resources to the state in a file; see Compare. The error is ErrRefused
// if the file names something that does not exist.
func (s *Session) Plan(ctx context.Context, f *File, prune bool) (*Plan, error) {
	found, err := s.Read(ctx, f, prune)
	if err != nil {
		return nil, err
	}
	if missing := s.check(ctx, f, found); len(missing) > 0 {
		return nil, refused(missing)
	}
	return Compare(f, found, prune)
}

// Read returns the existing resources that a file names. With all it also returns the resources that the file created,
// and the subscriptions of its topics.
func (s *Session) Read(ctx context.Context, f *File, all bool) (Found, error) {
	found := make(Found)
	for _, r := range f.Resources {
		if err := s.readInto(ctx, found, r.Ref); err != nil {
			return nil, err
		}
	}
	if !all {
		return found, nil
	}
	for _, scope := range f.Scopes() {
		refs, err := s.list(ctx, scope, kinds)
		if err != nil {
			return nil, err
		}
		for _, ref := range refs {
			if found[ref.key()] == nil {
				if err := s.readInto(ctx, found, ref); err != nil {
					return nil, err
				}
			}
		}
	}
	return found, nil
}

func (s *Session) readInto(ctx context.Context, found Found, ref Ref) error {
	k, err := s.keeper(ctx, ref)
	if err != nil {
		return err
	}
	is, err := k.read(ctx, ref)
	if err != nil {
		return fmt.Errorf("%s: %w", ref, err)
	}
	if is != nil {
		found[ref.key()] = is
	}
	return nil
}

// list returns all resources of some kinds in a scope.
func (s *Session) list(ctx context.Context, scope Scope, of []Kind) (refs []Ref, err error) {
	seen := make(map[Ref]bool)
	for _, kind := range of {
		k, err := s.keeper(ctx, newRef(scope, kind, ""))
		if err != nil {
			return nil, err
		}
		some, err := k.list(ctx, scope)
		if err != nil {
			return nil, err
		}
		for _, ref := range some {
			seen[ref] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), inOrder), nil
}

// Apply executes the steps of a plan, and calls done after each. After an error, the completed steps stay: the next
// apply continues from there.
func (s *Session) Apply(ctx context.Context, p *Plan, done func(*Step)) error {
	for _, step := range p.Steps {
		if s.Made == nil && slices.ContainsFunc(step.Changes, func(c Change) bool {
			return c.Setting == accessKey &&
				*c.Is == "true"
		}) {
			return fmt.Errorf(
				"%w: %s gets an access key, whose secret can be seen only when it is made: say with --write-keys which file gets it",
				ErrRefused,
				step.Ref,
			)
		}
	}
	for _, step := range p.Steps {
		if err := s.take(ctx, p, step); err != nil {
			return fmt.Errorf("%s%s %s: %w", p.at(step), step.Action, step.Ref, err)
		}
		done(step)
	}
	return nil
}

func (s *Session) take(ctx context.Context, p *Plan, step *Step) error {
	k, err := s.keeper(ctx, step.Ref)
	if err != nil {
		return err
	}
	switch step.Action {
	case Create:
		settings := make(Settings)
		for _, c := range step.Changes {
			settings[c.Setting] = *c.Is
		}
		return k.create(ctx, step.Ref, settings, p.Name)
	case Delete:
		return k.remove(ctx, step.was)
	}
	if step.was == nil { // an earlier step created it
		if step.was, err = k.read(ctx, step.Ref); err != nil {
			return err
		}
	}
	if step.was == nil {
		return fmt.Errorf("it has gone in the meantime")
	}
	return k.update(ctx, step.was, step.Changes)
}
