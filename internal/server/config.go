package server

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/auth/openid"
	"github.com/sluicemq/sluice/internal/bucket"
	"github.com/sluicemq/sluice/internal/front"
	"github.com/sluicemq/sluice/internal/keyring/keyservice"
	"github.com/sluicemq/sluice/internal/observe/spans"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/topic/egress"
	"github.com/sluicemq/sluice/internal/topic/email"
)

// Config is the configuration of a server. Default returns a working one.
type Config struct {
	Data           string   // directory of all data
	InMemory       bool     // store nothing on disk
	Listen         string   // host:port
	MetricsListen  string   // host:port for metrics; empty: not served
	Accounts       []string // the first is the default one
	Region         string   // of requests that do not name theirs
	RootKeyID      string   // root access key of the first account; empty: from the data directory
	RootSecret     string
	TLSCert        string // PEM files; both or none
	TLSKey         string
	Insecure       bool     // allow plain HTTP on an address that other machines can reach
	PublicURL      string   // beginning of queue URLs; empty: the URL that the client used
	TrustedProxies []string // addresses and networks whose X-Forwarded-For and X-Forwarded-Proto count for policies
	// EncryptionKeyFile holds the keys that encrypt messages. EncryptionKeyURL is the key service that seals them, in
	// the form of keyservice.Open; with it, the file is in the data directory by default. Without both, messages are
	// not encrypted.
	EncryptionKeyFile string
	EncryptionKeyURL  string
	MaxMessageSize    int      // bytes; MaximumMessageSize of queues that do not set it
	MaxQueues         int      // of an account, in all regions together; 0: unlimited
	NoSignatureV2     bool     // refuse requests signed with Signature Version 2
	NoCoolDowns       bool     // for tests: allow a second purge, and the name of a deleted queue, at once
	MinFreeSpace      int64    // free bytes of the disk below which nothing is added; 0: no limit; AutoMinFree
	MaxConnections    int      // 0: the usual number, or fewer if the process may open fewer files
	EgressAllow       []string // networks, addresses and hosts that deliveries may reach although they are not public
	Mail              email.Config
	Console           Console
	OpenID            openid.Config // of the console; without an issuer, single sign-on is off
	TrailDir          string        // directory whose subdirectories are the buckets of trails; empty: none
	// buckets of trails with the accounts that they are for, as bucket.ParseOwners reads them
	TrailBuckets    []string
	TrailS3Endpoint string // URL of an S3 service with the buckets of trails; empty: none
	// BackupTo is the URL of a store for continuous backups, in the form of bucket.OpenPlace. Empty means none.
	BackupTo    string
	BackupEvery time.Duration // interval of backups
	BackupKeep  time.Duration // number of backups to keep
	// bytes per second that backups read, and bytes per second that they send; 0: unlimited
	BackupBandwidth int64
	LogRequests     bool
	Keep            queue.Keep    // how long the metrics of queues are kept
	DeleteIdleAfter time.Duration // how long a queue is unused before it is deleted; 0: none is deleted
	NoUndo          bool          // whether purges and deletions of queues are final at once
	Version         string        // of the program

	Now    func() time.Time // source of time for requests; Default uses the machine's clock
	Logger *slog.Logger
	Spans  *spans.Tracer // nil: there are no spans
	// LogLevel is the level of Logger, which operators may change while the server runs. Nil means that they may not.
	LogLevel *slog.LevelVar

	Listener *net.TCPListener // an open listener for Listen; nil: none yet

	// Join makes the server a node of a cluster. Nil means a single machine.
	Join func(NodeEnv) (Node, error)

	idleNow func() time.Time // the clock of the sweeper of unused queues; nil: Now

	disk   *store.Disk         // test replacements for parts of the machine
	limits func(*front.Limits) // changes by tests; nil: none
}

// Default returns the configuration of a server for this machine's own use.
func Default() Config {
	return Config{
		Data: "./sluice-data", Listen: "127.0.0.1:9324", Accounts: []string{"000000000000"},
		Region: "us-east-1", MaxMessageSize: 262_144, MinFreeSpace: AutoMinFree,
		Console: Console{Serve: true, Idle: usualIdle},
		OpenID: openid.Config{
			Scopes:      openid.UsualScopes(),
			NameClaim:   openid.UsualNameClaim,
			GroupsClaim: openid.UsualGroupsClaim,
		}, Keep: queue.DefaultKeep, Now: wallClock,
		BackupEvery: time.Minute, BackupKeep: 7 * 24 * time.Hour, BackupBandwidth: 32 << 20,
	}
}

// Validate returns one sentence about each mistake.
func (c *Config) Validate() error {
	var wrong mistakes
	c.validateListen(&wrong)
	c.validateAccounts(&wrong)
	wrong.when(!c.InMemory && c.Data == "", "--data must name a directory")
	wrong.when(!identity.IsRegion(c.Region), "--region %q: want a name such as us-east-1", c.Region)
	wrong.when(
		c.MaxMessageSize < 1024 || c.MaxMessageSize > 1_048_576,
		"--max-message-size %d: want 1024 to 1048576 bytes",
		c.MaxMessageSize,
	)
	c.validateKeys(&wrong)
	wrong.when(c.MaxQueues < 0, "--max-queues %d: want 1 or more, or 0 for no limit", c.MaxQueues)
	wrong.when(c.MinFreeSpace < AutoMinFree, "--min-free-space %d: want a number of bytes, or 0 for no mark", c.MinFreeSpace)
	wrong.when(c.MaxConnections < 0, "--max-connections %d: want 1 or more, or 0 for the default", c.MaxConnections)
	_, err := front.ParseProxies(c.TrustedProxies)
	wrong.add(err)
	if err := c.Keep.Validate(); err != nil {
		wrong.add(fmt.Errorf("--metrics-keep-minutes, --metrics-keep-five-minutes and --metrics-keep-hours: %w", err))
	}
	wrong.add(c.validateIdle())
	_, err = egress.Parse(c.EgressAllow)
	wrong.add(err)
	wrong.add(c.Mail.Validate())
	wrong.add(c.Console.validate())
	wrong.add(c.OpenID.Validate())
	wrong.when(c.OpenID.Issuer != "" && !c.Console.Serve, "--oidc-issuer is for the console, which --console=false turns off")
	c.validateTrails(&wrong)
	c.validateBackup(&wrong)
	return errors.Join(wrong...)
}

// mistakes collects the mistakes of a configuration.
type mistakes []error

func (m *mistakes) add(err error) { *m = append(*m, err) }

// when adds a mistake if a condition holds.
func (m *mistakes) when(wrong bool, format string, args ...any) {
	if wrong {
		m.add(fmt.Errorf(format, args...))
	}
}

// validateListen checks the addresses of the server.
func (c *Config) validateListen(wrong *mistakes) {
	host, port, err := net.SplitHostPort(c.Listen)
	isAddress := err == nil && port != ""
	wrong.when(!isAddress, "--listen %q: want host:port, such as 127.0.0.1:9324", c.Listen)
	wrong.when(c.MetricsListen != "" && !isHostPort(c.MetricsListen),
		"--metrics-listen %q: want host:port, such as 127.0.0.1:9464", c.MetricsListen)
	wrong.when((c.TLSCert == "") != (c.TLSKey == ""), "--tls-cert and --tls-key go together")
	wrong.when(isAddress && c.TLSCert == "" && c.TLSKey == "" && !c.Insecure && !isLoopback(host),
		"--listen %s can be reached from other machines; give --tls-cert and --tls-key, "+
			"or --insecure to send messages and their signatures in the clear", c.Listen)
	wrong.when(isAddress && c.RootSecret != "" && len(c.RootSecret) < identity.LeastSecret && c.isExposed(host),
		"--root-secret-access-key has %d characters; where other machines can reach the server it takes %d: "+
			"an attacker who guesses it has all that the account has", len(c.RootSecret), identity.LeastSecret)
	if c.PublicURL != "" {
		u, err := url.Parse(c.PublicURL)
		wrong.when(err != nil || u.Scheme != "http" && u.Scheme != "https" ||
			u.Host == "" || u.RawQuery != "" || u.Fragment != "",
			"--public-url %q: want http:// or https://, a host and, if need be, a path", c.PublicURL)
	}
}

func (c *Config) validateAccounts(wrong *mistakes) {
	wrong.when((c.RootKeyID == "") != (c.RootSecret == ""), "--root-access-key-id and --root-secret-access-key go together")
	wrong.when(len(c.Accounts) == 0, "--account: at least one account is needed")
	for _, a := range c.Accounts {
		wrong.when(!identity.IsAccount(a), "--account %q: want 12 digits", a)
	}
}

func (c *Config) validateKeys(wrong *mistakes) {
	wrong.when(
		c.InMemory && c.KeyFile() != "",
		"--encryption-key-file and --encryption-key-url are for data on a disk, and --in-memory keeps none",
	)
	if c.EncryptionKeyURL == "" {
		return
	}
	if err := keyservice.Check(c.EncryptionKeyURL); err != nil {
		wrong.add(fmt.Errorf("--encryption-key-url: %w", err))
	}
}

// SealedKeyFile is the file in the data directory with the keys that a key service has sealed.
const SealedKeyFile = "encryption.keys"

// KeyFile returns the file with the keys that encrypt messages, or nothing.
func (c *Config) KeyFile() string {
	if c.EncryptionKeyFile == "" && c.EncryptionKeyURL != "" {
		return filepath.Join(c.Data, SealedKeyFile)
	}
	return c.EncryptionKeyFile
}

func (c *Config) validateTrails(wrong *mistakes) {
	u, err := url.Parse(c.TrailS3Endpoint)
	wrong.when(c.TrailS3Endpoint != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == ""),
		"--trail-s3-endpoint %q: want a URL such as https://s3.example.com", c.TrailS3Endpoint)
	_, err = c.bucketOwners()
	wrong.add(err)
	wrong.when(
		c.TrailDir != "" && c.TrailS3Endpoint != "",
		"--trail-dir and --trail-s3-endpoint do not go together: buckets are in one place",
	)
}

// Limits of continuous backups. Each backup flushes the memory to tables, which costs writes.
const (
	leastBackupEvery     = time.Second
	mostBackupEvery      = 24 * time.Hour
	leastBackupKeep      = time.Hour
	mostBackupKeep       = 10 * 366 * 24 * time.Hour
	leastBackupBandwidth = 64 << 10
)

func (c *Config) validateBackup(wrong *mistakes) {
	if c.BackupTo == "" {
		return
	}
	if err := bucket.CheckPlace(c.BackupTo); err != nil {
		wrong.add(fmt.Errorf("--backup-to: %w", err))
	}
	wrong.when(c.InMemory, "--backup-to is for data on a disk, and --in-memory keeps none")
	wrong.when(c.BackupEvery < leastBackupEvery || c.BackupEvery > mostBackupEvery,
		"--backup-every %s: want %s to %s", c.BackupEvery, leastBackupEvery, mostBackupEvery)
	wrong.when(c.BackupKeep < leastBackupKeep || c.BackupKeep > mostBackupKeep,
		"--backup-keep %s: want %s to %s", c.BackupKeep, leastBackupKeep, mostBackupKeep)
	wrong.when(c.BackupBandwidth != 0 && c.BackupBandwidth < leastBackupBandwidth,
		"--backup-bandwidth %d: want %d or more, or 0 for no limit", c.BackupBandwidth, leastBackupBandwidth)
}

// bucketOwners parses TrailBuckets.
func (c *Config) bucketOwners() (bucket.Owners, error) {
	owners, err := bucket.ParseOwners(c.TrailBuckets, func(account string) bool {
		return slices.Contains(c.Accounts, account)
	})
	if err != nil {
		return nil, fmt.Errorf("--trail-bucket %w", err)
	}
	return owners, nil
}

func isHostPort(s string) bool {
	_, port, err := net.SplitHostPort(s)
	return err == nil && port != ""
}

// isLoopback reports whether only this machine can reach a listener on host.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// isExposed reports whether other machines can reach a listener on host: directly, or through a proxy on this machine,
// as --public-url, --trusted-proxy and --console-host imply.
func (c *Config) isExposed(host string) bool {
	if !isLoopback(host) || len(c.TrustedProxies) > 0 ||
		slices.ContainsFunc(c.Console.Hosts, func(h string) bool { return !isLoopback(h) }) {
		return true
	}
	u, err := url.Parse(c.PublicURL)
	return c.PublicURL != "" && (err != nil || !isLoopback(u.Hostname()))
}

// endpoint is the URL under which a client on this machine reaches the server; with --public-url, any client. local is
// the address of a server that listens on all addresses.
func (c *Config) endpoint(addr net.Addr, local string) string {
	if c.PublicURL != "" {
		return strings.TrimRight(c.PublicURL, "/")
	}
	scheme := "http"
	if c.TLSCert != "" {
		scheme = "https"
	}
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return scheme + "://" + addr.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = local
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

// listen returns the listener for clients.
func (c *Config) listen() (*net.TCPListener, error) {
	if c.Listener != nil {
		return c.Listener, nil
	}
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return nil, err
	}
	return l.(*net.TCPListener), nil
}
