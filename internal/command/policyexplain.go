package command

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

func newPolicyExplain() *cobra.Command {
	server := new(clientFlags)
	var principal, action string
	var conditions []string
	cmd := &cobra.Command{
		Use:   "explain QUEUE",
		Short: "Ask the server whether a principal may do something with a queue",
		Long: `Ask a running server whether a principal may take an action on a queue, which statement
decides, and what is missing. Sluice only; needs sluice:ExplainAccess. sluice policy
simulate does the same for policies in files.

The principal is the ARN of a user or role, an account's 12 digits for its root, or
"anonymous". The exit status is 0 if the request would be allowed, and 1 if not.`,
		Example: `  sluice policy explain jobs --principal arn:aws:iam::000000000000:user/worker --action sqs:ReceiveMessage
  sluice policy explain jobs --principal anonymous --action sqs:SendMessage --context aws:SourceIp=10.1.2.3`,
		Args:              arguments("QUEUE"),
		ValidArgsFunction: completeQueues(server),
	}
	f := cmd.Flags()
	f.StringVar(&principal, "principal", "", "principal: an ARN, an account, or anonymous")
	f.StringVar(&action, "action", "", "action, such as sqs:SendMessage")
	f.StringArrayVar(&conditions, "context", nil, "key for conditions, as aws:SourceIp=10.1.2.3; repeatable")
	must(cmd.MarkFlagRequired("principal"))
	must(cmd.MarkFlagRequired("action"))
	server.add(cmd, "SQS")
	return server.onQueue(cmd, func(ctx context.Context, c *call, url string) (answer, error) {
		entries, err := contextEntries(conditions)
		if err != nil {
			return nil, err
		}
		in := map[string]any{"QueueUrl": url, "Principal": principal, "Action": action, "Context": entries}
		out := new(explained)
		if err := c.sluice(ctx, "ExplainAccess", in, out); err != nil {
			return nil, err
		}
		if out.Decision != "allowed" {
			return out, errNotAllowed
		}
		return out, nil
	})
}

type contextEntry struct {
	Key    string
	Values []string
}

// contextEntries makes entries of pairs such as aws:SourceIp=10.1.2.3. A repeated key has a list.
func contextEntries(pairs []string) (entries []*contextEntry, _ error) {
	known := make(map[string]*contextEntry)
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return nil, usage(fmt.Errorf("--context %q: want a key and a value, such as aws:SourceIp=10.1.2.3", pair))
		}
		e := known[strings.ToLower(key)]
		if e == nil {
			e = &contextEntry{Key: key}
			known[strings.ToLower(key)] = e
			entries = append(entries, e)
		}
		e.Values = append(e.Values, value)
	}
	return entries, nil
}

// explained is the answer of policy explain.
type explained struct {
	Decision           string
	By                 string
	Message            string `json:",omitempty"`
	Rule               string `json:",omitempty"`
	Statements         []explainedStatement
	MoreStatements     int64 `json:",omitempty"`
	MissingContextKeys []string
	Assumed            string `json:",omitempty"`
	Remedy             *struct {
		Text      string
		Statement string `json:",omitempty"`
	} `json:",omitempty"`
}

type explainedStatement struct {
	Source  string
	Policy  string `json:",omitempty"`
	Line    int64
	Sid     string `json:",omitempty"`
	Effect  string
	Applies bool
	Decided bool
	Element string `json:",omitempty"`
	Reason  string
}

func (x *explained) text(w io.Writer) error {
	verdict := map[string]string{
		"allowed": "Allowed", "implicitDeny": "Refused: nothing allows it", "explicitDeny": "Denied",
	}[x.Decision]
	fmt.Fprintf(w, "%s (%s)\n", verdict, x.By)
	if x.Rule != "" {
		fmt.Fprintln(w, printable(x.Rule))
	}
	if x.Assumed != "" {
		fmt.Fprintln(w, "taken for granted:", printable(x.Assumed))
	}
	for _, st := range x.Statements {
		name := st.Sid
		if name == "" {
			name = fmt.Sprintf("line %d", st.Line)
		}
		mark := " "
		if st.Decided {
			mark = "*"
		}
		fmt.Fprintf(
			w,
			"%s %s, %s %s, %s: %s\n",
			mark,
			st.Source,
			printable(orDash(st.Policy)),
			printable(name),
			st.Effect,
			printable(st.Reason),
		)
	}
	if x.MoreStatements > 0 {
		fmt.Fprintf(w, "  and %d other statements\n", x.MoreStatements)
	}
	if len(x.MissingContextKeys) > 0 {
		fmt.Fprintln(
			w, "conditions ask for", printable(strings.Join(x.MissingContextKeys, ", ")), "(give them with --context)",
		)
	}
	if x.Remedy != nil {
		fmt.Fprintln(w, printable(x.Remedy.Text))
		if x.Remedy.Statement != "" {
			fmt.Fprintln(w, "  "+printable(x.Remedy.Statement))
		}
	}
	return nil
}
