package server

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/api/admin"
	"github.com/sluicemq/sluice/internal/api/inspect"
	"github.com/sluicemq/sluice/internal/api/sqs"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/observe/consumers"
	"github.com/sluicemq/sluice/internal/observe/prom"
	"github.com/sluicemq/sluice/internal/queue"
)

// administration is the wing for operators: the status of the server, its accounts, its cluster and its backups. It
// reads from most other wings.
type administration struct {
	config  *Config
	log     *slog.Logger
	started time.Time
	reports *reports

	storage    *storage // nil until open, as are the fields below
	accounts   *accounts
	queues     *queues
	topics     *topics
	monitoring *monitoring
	audit      *audit
	secrecy    *secrecy
	operators  *admin.Authorizer // permissions of administrators
	backups    *backups
	continuous *continuous
	retirement *retirement
}

// newAdministration records when the server started.
func newAdministration(c *Config) *administration {
	return &administration{config: c, log: c.Logger, started: c.Now(), reports: newReports()}
}

// open removes the remains of an interrupted backup, and connects the wings that operators query.
func (a *administration) open(
	st *storage, ac *accounts, q *queues, t *topics, m *monitoring, au *audit, secrets *secrecy,
) (err error) {
	a.storage, a.accounts, a.queues, a.topics, a.monitoring, a.audit, a.secrecy = st, ac, q, t, m, au, secrets
	a.operators = admin.NewAuthorizer(ac.permissions, a.config.Accounts[0], a.config.Now)
	if a.backups, err = newBackups(a.config, st, secrets.sealed()); err != nil {
		return err
	}
	a.continuous = newContinuous(a.config, st, a.backups)
	a.retirement = &retirement{config: a.config, log: a.log, storage: st, secrecy: secrets, backups: a.backups}
	return nil
}

// Run makes continuous backups, if they are configured, and examines retired keys until ctx ends.
func (a *administration) Run(ctx context.Context) error {
	var all sync.WaitGroup
	all.Go(func() { a.continuous.Run(ctx) })
	all.Go(func() { a.retirement.Run(ctx) })
	all.Wait()
	return nil
}

// measure adds the metrics of continuous backups, if they are configured.
func (a *administration) measure(m *prom.Metrics) {
	if a.continuous.on() {
		m.Backup(a.continuous.age, a.continuous.failed)
	}
}

// newAdmin returns the service of Sluice's own operations on the server and on queues.
func (a *administration) newAdmin() *protocol.Service {
	c, st := a.config, a.storage
	wire := admin.New(admin.Options{
		Accounts: a.accounts.credentials, Authorizer: a.operators, Named: c.Accounts, Directory: a.accounts.directory,
		Queues: st.catalog.Load().Owned, Topics: a.topics.records.Owned, Cluster: st.node, Status: a.status,
		Belongings: a.belongings(), Forget: a.forget, RetireKey: a.retirement.retire,
		LogLevel: c.LogLevel, Tenants: a.accounts.tenants, Subscriptions: a.topics.records.CountSubscriptions,
	})
	inspect.Register(wire, inspect.Options{
		Catalog: st.catalog.Load(), Shard: st.messages, Authorizer: a.accounts.authorizer(admin.Rules),
		Access: a.accounts.permissions, Directory: a.accounts.directory, Services: rules(), Consumers: a.consumersOf,
		Messages: a.accounts.authorizer(sqs.Rules), CheckAttributes: sqs.CheckAttributes, Room: st.room,
		Keys: a.secrecy.access(a.accounts), Tenants: a.accounts.tenants, Now: c.Now,
		CheckQueues: func(account string) error {
			return sqs.CheckQueues(a.accounts.tenants, st.catalog.Load(), c.MaxQueues, account)
		},
		Ready:     func() error { return st.ready(formats.Selections) },
		PublicURL: strings.TrimRight(c.PublicURL, "/"),
	})
	return wire
}

// receivers implements answerer.
func (a *administration) receivers(id queue.ID) []consumers.Consumer {
	return a.queues.consumers.Queue(uint64(id), a.config.Now())
}

// consumersOf returns the consumers of a queue, through any node, and the nodes that did not answer.
func (a *administration) consumersOf(
	ctx context.Context, id queue.ID,
) (list []consumers.Consumer, silent []string, _ error) {
	text, err := json.Marshal(question{Consumers: id})
	if err != nil {
		return nil, nil, err
	}
	answers, silent := a.storage.node.Ask(ctx, text)
	lists := [][]consumers.Consumer{a.receivers(id)}
	for _, answer := range answers {
		var list []consumers.Consumer
		if err := json.Unmarshal(answer, &list); err != nil {
			return nil, nil, fmt.Errorf("the answer of another node: %w", err)
		}
		lists = append(lists, list)
	}
	return consumers.Merge(lists...), silent, nil
}
