package iam_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// statements returns a policy of n statements.
func statements(n int, statement string) string {
	return `{"Version":"2012-10-17","Statement":[` + strings.TrimSuffix(strings.Repeat(statement+",", n), ",") + `]}`
}

// Every simulation is cheap: a request that would cost too much is refused, and an answer has only as many results as
// fit into it.
func TestSimulationsAreBounded(t *testing.T) {
	s, _ := servertest.Start(t, servertest.InMemory())
	reader, _ := apitest.RootActor(s.Endpoint(), s.Root()).User(t, "reader", "")
	_, err := apitest.RootActor(s.Endpoint(), s.Root()).IAM.AttachUserPolicy(t.Context(), &iam.AttachUserPolicyInput{
		UserName: aws.String("reader"), PolicyArn: aws.String("arn:aws:iam::aws:policy/IAMReadOnlyAccess")})
	apitest.Must(t, 0, err)
	conditional := statements(700,
		`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"StringEquals":{"app:y":"b"}}}`)
	matching := statements(1000, `{"Effect":"Allow","Action":"*","Resource":"*"}`)
	entry := func(value string) []types.ContextEntry {
		return []types.ContextEntry{{ContextKeyName: aws.String("app:y"),
			ContextKeyType: types.ContextKeyTypeEnumString, ContextKeyValues: []string{value}}}
	}
	many := func(n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprint("sqs:Action", i))
		}
		return all
	}
	for _, tc := range []struct {
		what    string
		in      iam.SimulateCustomPolicyInput
		refused string
	}{
		{"a long value",
			iam.SimulateCustomPolicyInput{
				PolicyInputList: []string{conditional}, ContextEntries: entry(strings.Repeat("a", 1_000_000)),
			}, "ValidationError"},
		{"a value of the greatest length",
			iam.SimulateCustomPolicyInput{
				PolicyInputList: []string{conditional}, ContextEntries: entry(strings.Repeat("a", 2048)),
			}, ""},
		{"a costly pattern",
			iam.SimulateCustomPolicyInput{ContextEntries: entry(strings.Repeat("a", 2048)), PolicyInputList: []string{
				statements(20,
					`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"StringLike":{"app:y":"`+
						strings.Repeat("*a", 1000)+`b"}}}`)}}, ""},
		{"many entries",
			iam.SimulateCustomPolicyInput{
				PolicyInputList: []string{conditional}, ContextEntries: make([]types.ContextEntry, 51),
			}, "ValidationError"},
		{"many documents", iam.SimulateCustomPolicyInput{PolicyInputList: []string{conditional, matching}},
			"InvalidInput"},
		{"too many questions",
			iam.SimulateCustomPolicyInput{
				PolicyInputList: []string{conditional}, ActionNames: many(100), ResourceArns: many(11),
			}, "InvalidInput"},
		{"as many as there can be",
			iam.SimulateCustomPolicyInput{
				PolicyInputList: []string{matching}, ActionNames: many(100), ResourceArns: many(10),
				MaxItems: aws.Int32(1000),
			}, ""},
	} {
		if tc.in.ActionNames == nil {
			tc.in.ActionNames = []string{"sqs:SendMessage"}
		}
		for i := range tc.in.ContextEntries {
			if tc.in.ContextEntries[i].ContextKeyName == nil {
				tc.in.ContextEntries[i] = entry("b")[0]
			}
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		out, err := reader.IAM.SimulateCustomPolicy(t.Context(), &tc.in)
		took := time.Since(began)
		runtime.ReadMemStats(&after)
		if apitest.Code(err) != tc.refused {
			t.Errorf("%s: %v, want %q", tc.what, err, tc.refused)
		}
		if made := (after.TotalAlloc - before.TotalAlloc) >> 20; made > 64 || took > 20*time.Second {
			t.Errorf("%s: %d MiB and %v", tc.what, made, took)
		}
		if out != nil && len(out.EvaluationResults) == 0 {
			t.Errorf("%s: no results", tc.what)
		}
	}

	// Together the pages have all results.
	in := &iam.SimulateCustomPolicyInput{
		PolicyInputList: []string{matching}, ActionNames: many(20), MaxItems: aws.Int32(1000),
	}
	var got []string
	pages := 0
	for p := iam.NewSimulateCustomPolicyPaginator(reader.IAM, in); p.HasMorePages(); pages++ {
		out, err := p.NextPage(t.Context())
		for _, r := range apitest.Must(t, out, err).EvaluationResults {
			got = append(got, *r.EvalActionName)
			if len(r.MatchedStatements) != 1000 {
				t.Errorf("%s has matched %d statements", *r.EvalActionName, len(r.MatchedStatements))
			}
		}
	}
	apitest.Equal(t, got, many(20))
	if pages < 5 {
		t.Errorf("%d answers", pages)
	}
}

// An account runs one simulation at a time. Its other simulations wait, and are refused when too many wait. No account
// delays another.
func TestSimulationsTakeTurns(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	root := s.Root()
	costly := url.Values{
		"Action": {"SimulateCustomPolicy"}, "Version": {"2010-05-08"}, "MaxItems": {"1000"},
		"ContextEntries.member.1.ContextKeyName": {"app:y"}, "ContextEntries.member.1.ContextKeyType": {"string"},
		"ContextEntries.member.1.ContextKeyValues.member.1": {strings.Repeat("a", 2048)},
		"PolicyInputList.member.1": {statements(20,
			`{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"StringLike":{"app:y":"`+strings.Repeat("*a",
				1000)+`b"}}}`)},
	}
	for i := range 100 {
		costly.Set(fmt.Sprintf("ActionNames.member.%d", i+1), fmt.Sprint("sqs:Action", i))
	}
	form := costly.Encode()
	t.Cleanup(http.DefaultClient.CloseIdleConnections) // for which the server would wait
	// Clients that have disconnected neither keep their turn nor wait for one.
	gone, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for range 3 {
		r, err := http.NewRequestWithContext(gone, http.MethodPost, s.Endpoint(), strings.NewReader(form))
		apitest.Must(t, r, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		apitest.SignAt(t, r, root, "iam", "us-east-1", time.Now())
		if response, err := http.DefaultClient.Do(r); err == nil {
			response.Body.Close()
		}
	}
	var wait sync.WaitGroup
	answers := make(chan string, 40)
	for range cap(answers) {
		wait.Go(func() {
			status, body := apitest.Query(t, s.Endpoint(), "iam", form, &root)
			answers <- fmt.Sprint(status, apitest.Element(body, "Code"))
		})
	}
	other, _ := s.RootOf(otherAccount)
	small := "Action=SimulateCustomPolicy&Version=2010-05-08&ActionNames.member.1=sqs:SendMessage&PolicyInputList.member.1=" + url.QueryEscape(apitest.Allow("*", "*"))
	if status, body := apitest.Query(t, s.Endpoint(), "iam", small, &other); status != http.StatusOK {
		t.Errorf("another account: %d %s", status, body)
	}
	wait.Wait()
	close(answers)
	count := make(map[string]int)
	for a := range answers {
		count[a]++
	}
	if count["200"]+count["400Throttling"] != cap(answers) || count["200"] < 1 || count["400Throttling"] < 1 {
		t.Errorf("answers: %v", count)
	}
	if status, body := apitest.Query(t, s.Endpoint(), "iam", small, &root); status != http.StatusOK {
		t.Errorf("afterwards: %d %s", status, body)
	}
}

// A simulation does not know users of another account.
func TestSimulatedCallersOfOtherAccounts(t *testing.T) {
	t.Parallel()
	s, _ := servertest.Start(t, servertest.InMemory())
	_, _ = apitest.RootActor(s.Endpoint(), s.Root()).User(t, "victim", "")
	_, err := apitest.RootActor(s.Endpoint(), s.Root()).IAM.TagUser(t.Context(), &iam.TagUserInput{
		UserName: aws.String("victim"), Tags: []types.Tag{{Key: aws.String("project"), Value: aws.String("secret")}}})
	apitest.Must(t, 0, err)
	root, _ := s.RootOf(otherAccount)
	curious := apitest.RootActor(s.Endpoint(), root)
	ask := func(name, condition string) (types.PolicyEvaluationDecisionType, []string) {
		t.Helper()
		out, err := curious.IAM.SimulateCustomPolicy(t.Context(), &iam.SimulateCustomPolicyInput{
			ActionNames:     []string{"sqs:SendMessage"},
			CallerArn:       aws.String("arn:aws:iam::" + account + ":user/" + name),
			PolicyInputList: []string{`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"StringLike":{` + condition + `}}}}`},
		})
		r := apitest.Must(t, out, err).EvaluationResults[0]
		return r.EvalDecision, r.MissingContextValues
	}
	for _, condition := range []string{`"aws:userid":"AIDA*"`, `"aws:PrincipalTag/project":"s*"`,
		`"aws:username":"*"`} {
		decision, missing := ask("victim", condition)
		other, alsoMissing := ask("nobody", condition)
		if decision != other || fmt.Sprint(missing) != fmt.Sprint(alsoMissing) {
			t.Errorf("%s: %s %v for an existing user, %s %v for a missing one", condition, decision, missing, other,
				alsoMissing)
		}
	}
}
