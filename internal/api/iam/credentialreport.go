package iam

import (
	"bytes"
	"context"
	"encoding/csv"
	"net/http"
	"strconv"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// credentialReports serves the operations about the report of an account's credentials. Only the time of the last
// request is stored: the report is generated when it is fetched, so that it is true at its GeneratedTime, on every node
// of a cluster.
type credentialReports struct{ *core }

func (s credentialReports) register(wire *protocol.Service) {
	protocol.Register(wire, "GenerateCredentialReport", s.generate, protocol.Control)
	protocol.Register(wire, "GetCredentialReport", s.get)
}

// reportLasts is how long a report can be fetched after it was requested. AWS generates one every four hours at most.
const reportLasts = 4 * time.Hour

type generateReportOutput struct {
	State       string
	Description string `json:",omitempty"`
}

func (s credentialReports) generate(
	ctx context.Context, c *protocol.Call, _ *service.Empty,
) (*generateReportOutput, error) {
	if err := s.allow(c, "GenerateCredentialReport", subject{arn: anything}); err != nil {
		return nil, err
	}
	account := service.Caller(c).Account
	if r := s.directory.Report(account); r != nil && s.now().Sub(r.Created) < reportLasts {
		return &generateReportOutput{State: "COMPLETE"}, nil
	}
	err := s.change(ctx, func(tx *directory.Tx) error {
		tx.PutEntity(directory.NewReport(account, s.now()))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &generateReportOutput{"STARTED", "No report exists. Starting a new report generation task"}, nil
}

type getReportOutput struct {
	Content       []byte
	ReportFormat  string
	GeneratedTime time.Time
}

func (s credentialReports) get(_ context.Context, c *protocol.Call, _ *service.Empty) (*getReportOutput, error) {
	if err := s.allow(c, "GetCredentialReport", subject{arn: anything}); err != nil {
		return nil, err
	}
	account := service.Caller(c).Account
	now := s.now()
	switch r := s.directory.Report(account); {
	case r == nil:
		return nil, errReport("NotPresent", "No report is present.")
	case now.Sub(r.Created) >= reportLasts:
		return nil, errReport("Expired", "The most recent report has expired.")
	}
	return &getReportOutput{s.report(account), "text/csv", now.UTC().Truncate(time.Second)}, nil
}

// errReport reports that there is no report to fetch.
func errReport(why, sentence string) *protocol.Error {
	e := service.Modelled("CredentialReport"+why+"Exception", "Report"+why, http.StatusGone,
		"%s To generate a new report, use GenerateCredentialReport.", sentence)
	e.Absent = true // a node of a cluster that lags may not know of it yet
	return e
}

// reportColumns has the columns of AWS's report, in AWS's order.
var reportColumns = []string{
	"user", "arn", "user_creation_time",
	"password_enabled", "password_last_used", "password_last_changed", "password_next_rotation", "mfa_active",
	"access_key_1_active", "access_key_1_last_rotated",
	"access_key_1_last_used_date", "access_key_1_last_used_region", "access_key_1_last_used_service",
	"access_key_2_active", "access_key_2_last_rotated",
	"access_key_2_last_used_date", "access_key_2_last_used_region", "access_key_2_last_used_service",
	"cert_1_active", "cert_1_last_rotated", "cert_2_active", "cert_2_last_rotated",
}

// Values of cells without information.
const (
	notApplicable = "N/A"
	noInformation = "no_information"
	notSupported  = "not_supported"
)

// report returns the report of an account as CSV: its root, then its users.
func (s credentialReports) report(account string) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(reportColumns) // to memory
	_ = w.Write(s.rootRow(account))
	for _, user := range s.directory.List(directory.User, account) {
		_ = w.Write(s.userRow(user))
	}
	w.Flush()
	return b.Bytes()
}

func reportTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05+00:00") }

func (s credentialReports) rootRow(account string) []string {
	row := []string{"<root_account>", identity.RootARN(account), reportTime(time.Unix(0, 0))}
	row = append(row, notSupported, noInformation, notSupported, notSupported, "false")
	row = append(row, "true", notApplicable, notApplicable, notApplicable, notApplicable)
	row = append(row, noKey...)
	return append(row, noCertificates...)
}

var (
	noKey          = []string{"false", notApplicable, notApplicable, notApplicable, notApplicable}
	noCertificates = []string{"false", notApplicable, "false", notApplicable}
)

func (s credentialReports) userRow(user *directory.Entity) []string {
	row := append([]string{user.Name, user.ARN(), reportTime(user.Created)}, s.passwordCells(user)...)
	row = append(row, strconv.FormatBool(len(s.logins.DevicesOf(user.Account, user.ID)) > 0))
	all := s.directory.Keys(user)
	for i := range maxKeys {
		if i < len(all) {
			row = append(row, keyCells(all[i])...)
		} else {
			row = append(row, noKey...)
		}
	}
	return append(row, noCertificates...)
}

func (s credentialReports) passwordCells(user *directory.Entity) []string {
	p := s.logins.Profile(user.ID)
	if p == nil {
		return []string{"false", notApplicable, notApplicable, notApplicable}
	}
	cells := []string{"true", noInformation, reportTime(p.Changed), notApplicable}
	if at := s.passwordUsed(user); at != nil {
		cells[1] = reportTime(*at)
	}
	if rules, _ := s.logins.Rules(user.Account); rules.MaxAgeDays > 0 {
		cells[3] = reportTime(p.Changed.AddDate(0, 0, rules.MaxAgeDays))
	}
	return cells
}

func keyCells(k *directory.Key) []string {
	cells := []string{strconv.FormatBool(k.Active), reportTime(k.Created), notApplicable, notApplicable, notApplicable}
	if u, ok := k.LastUse(); ok {
		cells[2], cells[3], cells[4] = reportTime(u.At), u.Region, u.Service
	}
	return cells
}
