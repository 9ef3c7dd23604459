package server

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/tenant"
)

// While a node of the cluster runs a program that does not know of limits there are none, and the operator reads why.
func TestLimitsWaitForAllNodes(t *testing.T) {
	t.Parallel()
	var old atomic.Bool
	old.Store(true)
	p := newPair(t, func(owner, _ *Config) { beside(owner, &old) })
	input := `{"AccountId":"` + account + `","Limits":{"SendsPerSecond":5}}`
	status, body := callAdmin(t, p.owner, "SetLimits", input)
	if status != http.StatusServiceUnavailable ||
		!strings.Contains(body,
			"when all nodes of the cluster support them: the node c runs version 1.0, which is too old for it.") {
		t.Errorf("%d %s", status, body)
	}
	old.Store(false)
	if status, body := callAdmin(t, p.owner, "SetLimits", input); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
}

// The first limit raises the format of the data directory, and limits outlive a restart. The metrics say who is
// limited, and what was refused; the page that everybody may see names no account.
func TestLimitsAreKeptAndMeasured(t *testing.T) {
	t.Parallel()
	config := inMemory()
	config.InMemory, config.Data, config.MetricsListen = false, t.TempDir(), "127.0.0.1:0"
	config.Keep.Minutes = 0 // which takes an earlier format
	s, stop := start(t, config)
	c := clientOf(t, s, inJSON)
	c.Region = "us-east-1"
	c.Make("CreateQueue", object{"QueueName": "q"})
	for _, limits := range []string{`"SendsPerSecond":0`, `"Queues":5`} {
		if status, body := callAdmin(t, s, "SetLimits",
			`{"AccountId":"`+account+`","Limits":{`+limits+`}}`); status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
	}
	if f, err := datadir.ReadFormat(config.Data); err != nil || f.Number != formats.Tenants {
		t.Errorf("the format is %d, %v", f.Number, err)
	}
	refused := modelled("RequestThrottled", "RequestThrottled", 403, "Request is throttled.")
	c.Fails("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": "m"}, refused)
	want := map[string][]string{
		"/metrics": {`sluice_limit_refusals_total{limit="SendsPerSecond"} 1`,
			`sluice_limit_refusals_total{limit="Queues"} 0`},
		"/metrics/accounts": {
			`sluice_account_limit{account="` + account + `",limit="Queues",user=""} 5`,
			`sluice_account_used{account="` + account + `",limit="Queues",user=""} 1`,
			`sluice_account_refusals_total{account="` + account + `",limit="SendsPerSecond",user=""} 1`,
		},
	}
	for page, lines := range want {
		eventually.Succeeds(t, func() error {
			text := scrapePage(t, s, page)
			var missing []error
			for _, line := range lines {
				if !strings.Contains(text, line) {
					missing = append(missing, fmt.Errorf("%s has no %s:\n%s", page, line, text))
				}
			}
			return errors.Join(missing...)
		})
	}
	if strings.Contains(scrape(t, s), account) ||
		strings.Contains(scrapePage(t, s, "/metrics/accounts?prefix=9"), account) {
		t.Error("a page names the account that should not")
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	again, _ := start(t, config)
	if got := again.accounts.tenants.Limits(tenant.Subject{
		Account: account,
	}); got[tenant.Queues] != 5 || len(got) != 2 {
		t.Errorf("after a restart the limits are %v", got)
	}
	c = clientOf(t, again, inJSON)
	c.Region = "us-east-1"
	c.Fails("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": "m"}, refused)
}
