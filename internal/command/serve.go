package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/observe/spans"
	"github.com/sluicemq/sluice/internal/server"
)

func newServe() *cobra.Command {
	config := server.Default()
	var member clusterFlags
	logFormat, logged := "text", logFlags{level: "info"}
	check := false
	var applying applyAtStart
	mistakes := func() error {
		return errors.Join(config.Validate(), member.mistakes(&config), applying.read(&config), checkFiles(&config))
	}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Long: `Run the server.

Without flags it listens on this machine only, stores its data in ./sluice-data, creates
root access keys at its first start, and prints lines for a shell.

Each flag can also come from the environment, --log-format as SLUICE_LOG_FORMAT, with
commas between several values: put secrets there. Else it can come from the YAML file of
--config.

If OTEL_EXPORTER_OTLP_ENDPOINT is set, spans go to that OpenTelemetry collector.`,
		Example: `  sluice serve
  sluice serve --in-memory --log-requests
  sluice serve --data /var/lib/sluice --listen 0.0.0.0:9324 --tls-cert server.crt --tls-key server.key
  sluice serve --config /etc/sluice/sluice.yaml --check
  sluice serve --node a --cluster a.example,b.example,c.example \
    --cluster-ca ca.crt --cluster-cert a.example.crt --cluster-key a.example.key`,
		Args:        noArguments,
		Annotations: map[string]string{ownEnvironment: ""},
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			err := errors.Join(applySettings(cmd), checkFlags(cmd))
			if err != nil { // also name the mistakes in the valid settings
				err = errors.Join(err, mistakes())
			}
			return err
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !check {
				if err := takeSocket(&config); err != nil {
					return err
				}
			}
			if err := errors.Join(config.Validate(), member.mistakes(&config)); err != nil {
				return usage(mistakes())
			}
			level := new(slog.LevelVar)
			level.Set(logged.slogLevel())
			logger := newLogger(cmd.ErrOrStderr(), logFormat, level)
			config.Logger, config.LogLevel, config.LogRequests, config.Version = logger, level, logged.requests, version()
			tracer, err := spans.Open(spans.Options{Version: version(), Node: member.node, Log: logger})
			if err != nil {
				return usage(err)
			}
			defer closeSpans(tracer, logger)
			config.Spans = tracer
			if check {
				return checkServe(cmd, &config, errors.Join(member.join(cmd.Context(), &config), usage(applying.read(&config))))
			}
			if err := member.join(cmd.Context(), &config); err != nil {
				return err
			}
			if err := usage(applying.read(&config)); err != nil {
				return err
			}
			reloading, stop := reloadOnHangup(cmd, &logged, level, logger)
			defer stop()
			datadir.Umask()
			s, err := server.Start(config)
			if errors.Is(err, errStoppedJoining) {
				logger.Info(errStoppedJoining.Error())
				return nil
			}
			if err != nil {
				return err
			}
			reloading(s)
			if err := applying.apply(cmd.Context(), &config, s); err != nil {
				stopped, cancel := context.WithCancel(cmd.Context())
				cancel()
				return errors.Join(err, s.Run(stopped))
			}
			announce(cmd.OutOrStdout(), logger, &config, s)
			if os.Getenv("GOGC") == "" {
				debug.SetGCPercent(server.GCPercent())
				go server.ReturnMemory(cmd.Context(), logger)
			}
			tellSupervisor(logger, stateReady)
			stopping := context.AfterFunc(cmd.Context(), func() { tellSupervisor(logger, stateStopping) })
			defer stopping()
			return s.Run(cmd.Context())
		},
	}
	f := cmd.Flags()
	section(f, "Data", func(f *pflag.FlagSet) {
		f.StringVar(&config.Data, "data", config.Data, "data directory")
		f.BoolVar(&config.InMemory, "in-memory", false, "store nothing on disk")
		f.Var(
			byteCount{&config.MinFreeSpace},
			"min-free-space",
			"free disk space below which nothing is added, as 1GiB or in bytes; 0 turns this off (default 512MiB, or "+
				"a tenth of a smaller disk)",
		)
		f.StringVar(&config.EncryptionKeyFile, "encryption-key-file", "",
			"file with the keys to encrypt messages with, made if nothing is encrypted yet; keep a copy of it "+
				"(default: messages are not encrypted)")
		f.StringVar(&config.EncryptionKeyURL, "encryption-key-url", "",
			"key service that seals these keys: awskms://, hashivault://, gcpkms:// or azurekeyvault://; the file is "+
				"then in the data directory by default")
		directoryPath(f, "data")
		filePath(f, "encryption-key-file")
		notWith(f, "in-memory", "data", "min-free-space", "encryption-key-file", "encryption-key-url")
	})
	section(f, "Continuous backup", func(f *pflag.FlagSet) {
		f.StringVar(&config.BackupTo, "backup-to", "",
			"place for continuous backups: file:///DIRECTORY or s3://BUCKET/PREFIX, with ?endpoint=URL for another service "+
				"than AWS; the same for all nodes of a cluster, one of which makes the backups (default: none)")
		addLongDuration(f, &config.BackupEvery, "backup-every", "time from one backup to the next")
		addLongDuration(f, &config.BackupKeep, "backup-keep",
			"how long backups are kept: all of the last hour, one an hour for a day, then one a day")
		f.Var(byteCount{&config.BackupBandwidth}, "backup-bandwidth",
			"bytes a second that backups read, and as many that they send; 0 for no limit")
		onlyWith(f, []string{"backup-to"}, "backup-every", "backup-keep", "backup-bandwidth")
		notWith(f, "in-memory", "backup-to")
	})
	must(cmd.RegisterFlagCompletionFunc("backup-to", completePlaces))
	section(f, "Clients", func(f *pflag.FlagSet) {
		f.StringVar(&config.Listen, "listen", config.Listen,
			"host:port to listen on; a socket that systemd hands over takes its place")
		f.StringVar(&config.TLSCert, "tls-cert", "", "file with the TLS certificate chain, PEM")
		f.StringVar(&config.TLSKey, "tls-key", "", "file with the key of the certificate, PEM")
		f.BoolVar(&config.Insecure, "insecure", false, "allow plain HTTP on an address that other machines can reach")
		f.StringVar(&config.PublicURL, "public-url", "",
			"beginning of queue URLs (default: the address that each client uses)")
		f.StringSliceVar(
			&config.TrustedProxies,
			"trusted-proxy",
			nil,
			"address or network of a proxy whose X-Forwarded-For and X-Forwarded-Proto policies see; repeatable",
		)
		f.BoolVar(
			&config.NoSignatureV2,
			"no-signature-v2",
			false,
			"refuse Signature Version 2, which only old clients use",
		)
		f.Var(
			positive{&config.MaxConnections},
			"max-connections",
			fmt.Sprintf(
				"connections open at a time; more wait (default %d, or as many as the limit of open files allows)",
				server.DefaultConnections,
			),
		)
		filePath(f, "tls-cert", "tls-key")
	})
	section(f, "Console", func(f *pflag.FlagSet) {
		f.BoolVar(
			&config.Console.Serve,
			"console",
			config.Console.Serve,
			"serve the console below /console/; --console=false turns it off",
		)
		f.DurationVar(
			&config.Console.Idle,
			"console-idle",
			config.Console.Idle,
			"end a session of the console after this time without use, and in any case after 12 hours",
		)
		f.StringSliceVar(
			&config.Console.Hosts,
			"console-host",
			nil,
			"further host name of the console for browsers without TLS; repeatable",
		)
	})
	section(f, "Signing in to the console by OpenID Connect", func(f *pflag.FlagSet) {
		f.StringVar(
			&config.OpenID.Issuer,
			"oidc-issuer",
			"",
			"URL of the identity provider, as it calls itself (default: none)",
		)
		f.StringVar(&config.OpenID.ClientID, "oidc-client-id", "", "client id of this server at the provider")
		f.StringVar(
			&config.OpenID.ClientSecretFile,
			"oidc-client-secret-file",
			"",
			"file with the client's secret, read at each sign-in (default: none)",
		)
		f.StringVar(&config.OpenID.Name, "oidc-name", "", "name of the provider in the console (default: its host)")
		f.StringSliceVar(&config.OpenID.Scopes, "oidc-scope", config.OpenID.Scopes, "scopes to ask for; repeatable")
		f.StringVar(
			&config.OpenID.NameClaim,
			"oidc-name-claim",
			config.OpenID.NameClaim,
			"claim with the name of the role's session; an e-mail address must be verified",
		)
		f.StringVar(
			&config.OpenID.GroupsClaim,
			"oidc-groups-claim",
			config.OpenID.GroupsClaim,
			"claim with a person's groups, such as realm_access.roles",
		)
		f.StringSliceVar(
			&config.OpenID.Roles,
			"oidc-role",
			nil,
			"GROUP=ARN: the role of a group's members; the first match counts; repeatable",
		)
		filePath(f, "oidc-client-secret-file")
		onlyWith(
			f,
			[]string{"oidc-issuer"},
			"oidc-client-id",
			"oidc-client-secret-file",
			"oidc-name",
			"oidc-scope",
			"oidc-name-claim",
			"oidc-groups-claim",
			"oidc-role",
		)
	})
	section(f, "Accounts and queues", func(f *pflag.FlagSet) {
		f.StringSliceVar(
			&config.Accounts,
			"account",
			config.Accounts,
			"account number, 12 digits; repeatable; the first is the default",
		)
		f.StringVar(
			&config.RootKeyID,
			"root-access-key-id",
			"",
			"root access key of the first account (default: generated, kept in the data directory)",
		)
		f.StringVar(&config.RootSecret, "root-secret-access-key", "", "secret of that key")
		f.StringVar(&config.Region, "region", config.Region, "region of requests that do not name theirs")
		f.IntVar(
			&config.MaxMessageSize,
			"max-message-size",
			config.MaxMessageSize,
			"MaximumMessageSize of queues that do not set it, and minimum limit of a batch; AWS has 1048576",
		)
		f.IntVar(
			&config.MaxQueues,
			"max-queues",
			0,
			"queues that an account may have in all regions together (default 0, no limit)",
		)
		addLongDuration(
			f,
			&config.DeleteIdleAfter,
			"delete-idle-queues-after",
			"delete queues that are empty and unused for this time, at least 24h, after an announcement in log, trail and "+
				"metrics; give it to all nodes of a cluster (default 0, never)",
		)
		f.StringSliceVar(
			&applying.files,
			"apply",
			nil,
			"file to apply before clients are served, without deleting anything; repeatable",
		)
		f.StringVar(
			&applying.keyFile,
			"write-keys",
			"",
			"file that gets the access keys of users that --apply creates, as profiles",
		)
		filePath(f, "apply", "write-keys")
		onlyWith(f, []string{"apply"}, "write-keys")
		f.BoolVar(
			&config.NoCoolDowns,
			"no-cool-downs",
			false,
			"for tests: purge a queue again, and reuse the name of a deleted one, at once instead of after "+
				"60 seconds",
		)
	})
	section(f, "Topics", func(f *pflag.FlagSet) {
		f.StringSliceVar(
			&config.EgressAllow,
			"egress-allow",
			nil,
			"private network, address or host that topics and requests to identity providers may reach, such as "+
				"10.0.0.0/8 or hooks.internal; repeatable (default: public addresses only)",
		)
		f.StringVar(
			&config.Mail.Server,
			"smtp-server",
			"",
			"host:port of the mail relay for topics; TLS on port 465, STARTTLS on others, optional on this machine "+
				"(default: no mail)",
		)
		f.StringVar(&config.Mail.From, "smtp-from", "", "address that these mails come from")
		f.StringVar(&config.Mail.User, "smtp-user", "", "user of the relay")
		f.StringVar(&config.Mail.PasswordFile, "smtp-password-file", "", "file with that user's password")
		filePath(f, "smtp-password-file")
	})
	member.add(f)
	section(f, "Log and metrics", func(f *pflag.FlagSet) {
		addChoice(f, &logFormat, "log-format", "", "text", "json")
		logged.add(f)
		addLongDuration(
			f,
			&config.Keep.Minutes,
			"metrics-keep-minutes",
			"how long metrics of queues are kept by the minute; 0 turns them off",
		)
		addLongDuration(
			f,
			&config.Keep.FiveMinutes,
			"metrics-keep-five-minutes",
			"how long in steps of five minutes, from the time of measurement",
		)
		addLongDuration(f, &config.Keep.Hours, "metrics-keep-hours", "how long in steps of an hour")
		f.StringVar(
			&config.MetricsListen,
			"metrics-listen",
			"",
			"host:port for Prometheus, at /metrics, without authentication (default: off)",
		)
	})
	section(f, "Trails", func(f *pflag.FlagSet) {
		f.StringVar(
			&config.TrailDir,
			"trail-dir",
			"",
			"directory whose subdirectories are buckets of trails; all nodes of a cluster need the same one, on shared "+
				"storage (default: no trails)",
		)
		f.StringSliceVar(
			&config.TrailBuckets,
			"trail-bucket",
			nil,
			"bucket and the account whose trails may write to it, such as audit=111122223333; repeatable; trails "+
				"cannot write to other buckets (default: all trails may write to all)",
		)
		f.StringVar(
			&config.TrailS3Endpoint,
			"trail-s3-endpoint",
			"",
			"URL of an S3 service for trails instead; keys come from where AWS's SDKs look",
		)
		directoryPath(f, "trail-dir")
		notWith(f, "trail-s3-endpoint", "trail-dir")
	})
	section(f, "Configuration", func(f *pflag.FlagSet) {
		f.String(
			configFile,
			"",
			"YAML file with lines such as log-level: warn, for flags without another source",
		)
		f.BoolVar(&check, "check", false,
			"do not start: validate the settings, name all mistakes, and print them without secrets as a file for "+
				"--config")
		f.String(
			envFile,
			"",
			"file of lines such as SLUICE_LOG_LEVEL=warn, before --config. SIGHUP reads --log-level, --log-requests "+
				"and the TLS certificate again from both",
		)
		filePath(f, configFile, envFile)
	})
	return cmd
}

// spansTimeout is how long a stopping server waits for the collector to accept the last spans.
const spansTimeout = 5 * time.Second

func closeSpans(t *spans.Tracer, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), spansTimeout)
	defer cancel()
	if err := t.Close(ctx); err != nil {
		log.Warn("the last spans could not be sent", "error", err)
	}
}

func newLogger(w io.Writer, format string, level slog.Leveler) *slog.Logger {
	o := slog.HandlerOptions{Level: level, ReplaceAttr: inMilliseconds}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, &o))
	}
	return slog.New(slog.NewTextHandler(w, &o))
}

// inMilliseconds logs every duration in the same unit, which its name includes.
func inMilliseconds(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() != slog.KindDuration {
		return a
	}
	return slog.Float64(a.Key+"_ms", float64(a.Value.Duration().Microseconds())/1000)
}
