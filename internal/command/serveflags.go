package command

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/sluicemq/sluice/internal/server"
)

// addFlags adds the flags of serve, in the sections of the reference.
func (s *serveCommand) addFlags(f *pflag.FlagSet) {
	section(f, "Data", s.addData)
	section(f, "Continuous backup", s.addBackup)
	section(f, "Clients", s.addClients)
	section(f, "Console", s.addConsole)
	section(f, "Signing in to the console by OpenID Connect", s.addOpenID)
	section(f, "Accounts and queues", s.addAccounts)
	section(f, "Topics", s.addTopics)
	s.member.add(f)
	section(f, "Log and metrics", s.addLog)
	section(f, "Trails", s.addTrails)
	section(f, "Configuration", s.addConfiguration)
}

func (s *serveCommand) addData(f *pflag.FlagSet) {
	f.StringVar(&s.config.Data, "data", s.config.Data, "data directory")
	f.BoolVar(&s.config.InMemory, "in-memory", false, "store nothing on disk")
	f.Var(byteCount{&s.config.MinFreeSpace}, "min-free-space",
		"free disk space below which nothing is added, as 1GiB or in bytes; 0 turns this off (default 512MiB, or "+
			"a tenth of a smaller disk)")
	f.StringVar(&s.config.EncryptionKeyFile, "encryption-key-file", "",
		"file with the keys that encrypt messages, created if nothing is encrypted yet; keep a copy of it "+
			"(default: messages are not encrypted)")
	f.StringVar(&s.config.EncryptionKeyURL, "encryption-key-url", "",
		"key service that seals these keys: awskms://, hashivault://, gcpkms:// or azurekeyvault://; the file is "+
			"then in the data directory by default")
	directoryPath(f, "data")
	filePath(f, "encryption-key-file")
	notWith(f, "in-memory", "data", "min-free-space", "encryption-key-file", "encryption-key-url")
}

func (s *serveCommand) addBackup(f *pflag.FlagSet) {
	f.StringVar(&s.config.BackupTo, "backup-to", "",
		"place for continuous backups: file:///DIRECTORY or s3://BUCKET/PREFIX, with ?endpoint=URL for another service "+
			"than AWS; the same for all nodes of a cluster, one of which makes the backups (default: none)")
	addLongDuration(f, &s.config.BackupEvery, "backup-every", "time from one backup to the next")
	addLongDuration(f, &s.config.BackupKeep, "backup-keep",
		"how long backups are kept: all of the last hour, one an hour for a day, then one a day")
	f.Var(byteCount{&s.config.BackupBandwidth}, "backup-bandwidth",
		"bytes a second that backups read, and as many that they send; 0 for no limit")
	onlyWith(f, []string{"backup-to"}, "backup-every", "backup-keep", "backup-bandwidth")
	notWith(f, "in-memory", "backup-to")
}

func (s *serveCommand) addClients(f *pflag.FlagSet) {
	f.StringVar(&s.config.Listen, "listen", s.config.Listen,
		"host:port to listen on; a socket from systemd replaces it")
	f.StringVar(&s.config.TLSCert, "tls-cert", "", "file with the TLS certificate chain, PEM")
	f.StringVar(&s.config.TLSKey, "tls-key", "", "file with the key of the certificate, PEM")
	f.BoolVar(&s.config.Insecure, "insecure", false, "allow plain HTTP on an address that other machines can reach")
	f.StringVar(&s.config.PublicURL, "public-url", "",
		"base of queue URLs (default: the address that each client uses)")
	f.StringSliceVar(&s.config.TrustedProxies, "trusted-proxy", nil,
		"address or network of a proxy whose X-Forwarded-For and X-Forwarded-Proto are trusted; repeatable")
	f.BoolVar(&s.config.NoSignatureV2, "no-signature-v2", false,
		"refuse Signature Version 2, which only old clients use")
	f.Var(positive{&s.config.MaxConnections}, "max-connections", fmt.Sprintf(
		"connections open at a time; more wait (default %d, or as many as the limit of open files allows)",
		server.DefaultConnections))
	filePath(f, "tls-cert", "tls-key")
}

func (s *serveCommand) addConsole(f *pflag.FlagSet) {
	f.BoolVar(&s.config.Console.Serve, "console", s.config.Console.Serve,
		"serve the console below /console/; --console=false turns it off")
	f.DurationVar(&s.config.Console.Idle, "console-idle", s.config.Console.Idle,
		"end a session of the console after this time without use, and in any case after 12 hours")
	f.StringSliceVar(&s.config.Console.Hosts, "console-host", nil,
		"further host name of the console for browsers without TLS; repeatable")
}

func (s *serveCommand) addOpenID(f *pflag.FlagSet) {
	f.StringVar(&s.config.OpenID.Issuer, "oidc-issuer", "",
		"issuer URL of the identity provider (default: none)")
	f.StringVar(&s.config.OpenID.ClientID, "oidc-client-id", "", "client id of this server at the provider")
	f.StringVar(&s.config.OpenID.ClientSecretFile, "oidc-client-secret-file", "",
		"file with the client's secret, read at each sign-in (default: none)")
	f.StringVar(&s.config.OpenID.Name, "oidc-name", "", "name of the provider in the console (default: its host)")
	f.StringSliceVar(&s.config.OpenID.Scopes, "oidc-scope", s.config.OpenID.Scopes, "scopes to ask for; repeatable")
	f.StringVar(&s.config.OpenID.NameClaim, "oidc-name-claim", s.config.OpenID.NameClaim,
		"claim with the name of the role's session; an e-mail address must be verified")
	f.StringVar(&s.config.OpenID.GroupsClaim, "oidc-groups-claim", s.config.OpenID.GroupsClaim,
		"claim with a person's groups, such as realm_access.roles")
	f.StringSliceVar(&s.config.OpenID.Roles, "oidc-role", nil,
		"GROUP=ARN: the role of a group's members; the first match counts; repeatable")
	filePath(f, "oidc-client-secret-file")
	onlyWith(f, []string{"oidc-issuer"}, "oidc-client-id", "oidc-client-secret-file", "oidc-name", "oidc-scope",
		"oidc-name-claim", "oidc-groups-claim", "oidc-role")
}

func (s *serveCommand) addAccounts(f *pflag.FlagSet) {
	f.StringSliceVar(&s.config.Accounts, "account", s.config.Accounts,
		"account number, 12 digits; repeatable; the first is the default")
	f.StringVar(&s.config.RootKeyID, "root-access-key-id", "",
		"root access key of the first account (default: generated, kept in the data directory)")
	f.StringVar(&s.config.RootSecret, "root-secret-access-key", "", "secret of that key")
	f.StringVar(&s.config.Region, "region", s.config.Region, "region of requests that do not name theirs")
	f.IntVar(&s.config.MaxMessageSize, "max-message-size", s.config.MaxMessageSize,
		"MaximumMessageSize of queues that do not set it, and minimum limit of a batch; AWS has 1048576")
	f.IntVar(&s.config.MaxQueues, "max-queues", 0,
		"queues that an account may have in all regions together (default 0, no limit)")
	addLongDuration(f, &s.config.DeleteIdleAfter, "delete-idle-queues-after",
		"delete queues that are empty and unused for this time, at least 24h, after an announcement in log, trail and "+
			"metrics; give it to all nodes of a cluster (default 0, never)")
	f.BoolVar(&s.config.NoUndo, "no-undo", false,
		"delete purged messages and deleted queues at once, not after ten minutes; give it to all nodes of a cluster")
	f.StringSliceVar(&s.applying.files, "apply", nil,
		"file to apply before clients are served, without deleting anything; repeatable")
	f.StringVar(&s.applying.keyFile, "write-keys", "",
		"file that gets the access keys of users that --apply creates, as profiles")
	filePath(f, "apply", "write-keys")
	onlyWith(f, []string{"apply"}, "write-keys")
	f.BoolVar(&s.config.NoCoolDowns, "no-cool-downs", false,
		"for tests: purge a queue again, and reuse the name of a deleted one, at once instead of after 60 seconds")
}

func (s *serveCommand) addTopics(f *pflag.FlagSet) {
	f.StringSliceVar(&s.config.EgressAllow, "egress-allow", nil,
		"private network, address or host that topics and requests to identity providers may reach, such as "+
			"10.0.0.0/8 or hooks.internal; repeatable (default: public addresses only)")
	f.StringVar(&s.config.Mail.Server, "smtp-server", "",
		"host:port of the mail relay for topics; TLS on port 465, STARTTLS on others, optional on this machine "+
			"(default: no mail)")
	f.StringVar(&s.config.Mail.From, "smtp-from", "", "address that these mails come from")
	f.StringVar(&s.config.Mail.User, "smtp-user", "", "user of the relay")
	f.StringVar(&s.config.Mail.PasswordFile, "smtp-password-file", "", "file with that user's password")
	filePath(f, "smtp-password-file")
}

func (s *serveCommand) addLog(f *pflag.FlagSet) {
	addChoice(f, &s.logFormat, "log-format", "", "text", "json")
	s.logged.add(f)
	addLongDuration(f, &s.config.Keep.Minutes, "metrics-keep-minutes",
		"how long metrics of queues are kept by the minute; 0 turns them off")
	addLongDuration(f, &s.config.Keep.FiveMinutes, "metrics-keep-five-minutes",
		"how long in steps of five minutes, from the time of measurement")
	addLongDuration(f, &s.config.Keep.Hours, "metrics-keep-hours", "how long in steps of an hour")
	f.StringVar(&s.config.MetricsListen, "metrics-listen", "",
		"host:port for Prometheus, at /metrics, without authentication (default: off)")
}

func (s *serveCommand) addTrails(f *pflag.FlagSet) {
	f.StringVar(&s.config.TrailDir, "trail-dir", "",
		"directory whose subdirectories are buckets of trails; all nodes of a cluster need the same one, on shared "+
			"storage (default: no trails)")
	f.StringSliceVar(&s.config.TrailBuckets, "trail-bucket", nil,
		"bucket and the account whose trails may write to it, such as audit=111122223333; repeatable; trails "+
			"cannot write to other buckets (default: all trails may write to all)")
	f.StringVar(&s.config.TrailS3Endpoint, "trail-s3-endpoint", "",
		"URL of an S3 service for trails instead; keys come from where AWS's SDKs look")
	directoryPath(f, "trail-dir")
	notWith(f, "trail-s3-endpoint", "trail-dir")
}

func (s *serveCommand) addConfiguration(f *pflag.FlagSet) {
	f.String(configFile, "", "YAML file with lines such as log-level: warn, for flags without another source")
	f.BoolVar(&s.check, "check", false,
		"do not start: validate the settings, name all mistakes, and print them without secrets as a file for "+
			"--config")
	f.String(envFile, "",
		"file of lines such as SLUICE_LOG_LEVEL=warn, before --config. SIGHUP reads --log-level, --log-requests "+
			"and the TLS certificate again from both")
	filePath(f, configFile, envFile)
}
