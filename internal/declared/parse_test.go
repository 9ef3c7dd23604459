package declared

import (
	"strings"
	"testing"
)

var home = Scope{"aws", "000000000000", "us-east-1"}

// sound has the settings of an alarm except for its metric.
const sound = "queue: q, statistic: Sum, period: 1m, periods: 2, when: '>', threshold: 1"

func TestErrorsHaveTheirPlace(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":           {"", "it needs at least a line such as name: shop"},
		"no mapping":      {"- a", "shop.yaml:1:1: want lines such as queues:, topics: and users:"},
		"no YAML":         {"name: shop\nqueues: [", "shop.yaml:3:"},
		"no name":         {"queues:\n  a:", "shop.yaml:1:1: name is missing"},
		"bad name":        {"name: a b", "shop.yaml:1:7: a b: a name has at most 100 letters"},
		"unknown section": {"name: a\nqueue: {}", "shop.yaml:2:1: the file has no queue; did you mean queues?"},
		"unknown setting": {"name: a\nqueues:\n  jobs:\n    retension: 1d",
			"shop.yaml:4:5: a queue has no retension; did you mean retention?"},
		"flag of the server": {"listen: 0.0.0.0:9324", "shop.yaml:1:1: the file has no listen"},
		"duration": {"name: a\nqueues:\n  jobs:\n    delay: 1.5s",
			"shop.yaml:4:12: 1.5s: want whole seconds, such as 30s"},
		"size": {"name: a\nqueues:\n  jobs: {max-message-size: 1 MB}", "1 MB: want a number of bytes"},
		"boolean": {"name: a\ntopics:\n  t: {subscriptions: [{queue: q, raw: yes}]}\nqueues:\n  q:",
			"yes: want true or false"},
		"word": {"name: a\nqueues:\n  j.fifo: {deduplication-scope: group}",
			"group: want one of queue, messageGroup"},
		"no such queue": {"name: a\nqueues:\n  orders: {dead-letters: order-failed}\n  orders-failed:",
			"shop.yaml:3:26: there is no queue order-failed here; did you mean orders-failed?"},
		"far away": {"name: a\nqueues:\n  orders: {dead-letters: x}",
			"there is no queue x here: name one that this part of the file has, or give an ARN"},
		"queue of a region": {"name: a\nqueues:\n  x:\nregions:\n  eu-west-1:\n    queues:\n      orders: {dead-letters: x}", "there is no queue x here"},
		"no queue": {"name: a\nqueues:\n  orders: {dead-letters: {max-receives: 2}}",
			"dead-letters has no queue"},
		"no number": {"name: a\nqueues:\n  orders: {dead-letters: {queue: d, max-receives: often}}\n  d:",
			"want a number of receives"},
		"twice":        {"name: a\nqueues:\n  x:\n  x:", "shop.yaml:4:"},
		"queue's name": {"name: a\nqueues:\n  a b:", "a b cannot be the name of a queue: want 1 to 80 letters"},
		"FIFO by setting": {"name: a\nqueues:\n  orders: {fifo: true}",
			"shop.yaml:3:18: whether a queue is FIFO is in its name, which ends in .fifo, and cannot be changed"},
		"FIFO by attribute": {"name: a\nqueues:\n  orders: {attributes: {FifoQueue: true}}",
			"whether a queue is FIFO is in its name"},
		"FIFO's attribute": {"name: a\nqueues:\n  orders: {content-based-deduplication: true}",
			"content-based-deduplication is for FIFO queues"},
		"attribute": {"name: a\nqueues:\n  orders: {attributes: {DelaySeconds: 3}}",
			"DelaySeconds has a name of its own here: delay"},
		"own tag": {"name: a\nqueues:\n  orders: {tags: {sluice-applied-by: b}}",
			"is the tag of what apply makes"},
		"users of a region": {"name: a\nregions:\n  eu-west-1: {users: {}}",
			"shop.yaml:3:22: users belong to an account in all regions"},
		"home region": {"name: a\nregions:\n  us-east-1: {}", "us-east-1 is the region that is used"},
		"region":      {"name: a\nregions:\n  EU: {}", "EU: want a region"},
		"home account": {"name: a\naccounts:\n  \"000000000000\": {}",
			"000000000000 is the account of the keys that are used"},
		"account": {"name: a\naccounts:\n  me: {}", "me: an account is a number of 12 digits"},
		"group": {"name: a\nusers:\n  u: {groups: [clerk]}\ngroups:\n  clerks:",
			"there is no group clerk here; did you mean clerks?"},
		"policy's document": {"name: a\npolicies:\n  p: {path: /x/}", "policy p has no document"},
		"no document":       {"name: a\npolicies:\n  p: {document: hello}", "want a mapping, or a text with JSON"},
		"trust":             {"name: a\nroles:\n  r:", "role r has no trust"},
		"metric": {"name: a\nalarms:\n  x: {when: '>', threshold: 1, periods: 1}",
			"alarm x: want a metric, or metrics"},
		"statistic": {"name: a\nalarms:\n  x: {queue: q, metric: M, when: '>', threshold: 1, periods: 1, period: 60}",
			"alarm x has no statistic"},
		"comparison": {"name: a\nalarms:\n  x: {when: '=>'}", "=>: want a comparison: >, >=, < or <="},
		"no rule":    {"name: a\ncomposite-alarms: {x: {notify: []}}", "composite-alarm x has no rule"},
		"rule": {"name: a\ncomposite-alarms: {x: {rule: ALARM(a b)}}",
			"rule: Unsupported token 'b' at char 8, must be: ')'"},
		"suppressor": {"name: a\ncomposite-alarms: {x: {rule: 'TRUE', suppressor: s, suppressor-wait: 1m}}",
			"composite-alarm x has no suppressor-extension"},
		"topic": {"name: a\nalarms:\n  x: {notify: [ops]}\ntopics:\n  opps:",
			"there is no topic ops here; did you mean opps?"},
		"endpoint": {"name: a\ntopics:\n  t: {subscriptions: [{raw: true}]}", "want an endpoint"},
		"two endpoints": {"name: a\ntopics:\n  t: {subscriptions: [{url: http://a, email: a@b}]}",
			"a subscription has one endpoint"},
		"subscribed twice": {"name: a\ntopics:\n  t: {subscriptions: [a@b.example, {email: a@b.example}]}",
			"this endpoint is subscribed twice"},
		"scheme": {"name: a\ntopics:\n  t: {subscriptions: ['ftp://u:secret@a']}",
			"ftp://u:****@a: want a URL with http or https"},
		"old document": {"name: a\npolicies:\n  p: {document: {Statement: {Effect: Allow, Action: 'sqs:*', Resource: '*'}}}", "Policy document must be version 2012-10-17 or greater."},
		"reference": {"name: a\npolicies:\n  p: {document: {Statement: {Resource: '${queue.x}'}}}",
			"shop.yaml:3:40: there is no queue x here"},
		"limit's name": {"name: a\nlimits:\n  bob: {queues: 1}",
			"bob cannot be the name of a limit: want an account"},
		"limit": {"name: a\nlimits:\n  111122223333: {queues: many}",
			"shop.yaml:3:26: many: want a whole number from 0 to"},
		"limit of bytes": {"name: a\nlimits:\n  111122223333: {stored-bytes: 20GB}",
			"20GB: want a number of bytes, such as 512MiB or 20GiB"},
		"too high a limit": {"name: a\nlimits:\n  111122223333: {stored-bytes: 1025TiB}", "at most 1024TiB"},
		"limit of a user": {"name: a\nlimits:\n  111122223333/bob: {queues: 1}",
			"users have no limit of queues: only accounts do"},
		"limit elsewhere": {"name: a\naccounts:\n  '111122223333':\n    limits: {111122223333: {queues: 1}}",
			"limits are set with the keys of the operator"},
		"limit of a region": {"name: a\nregions:\n  eu-west-1: {limits: {}}",
			"limits belong to an account in all regions"},
		"too long": {"name: a\nqueues:\n  q: {visibility-timeout: 13h}",
			"shop.yaml:3:27: 13h: visibility-timeout is from 0s to 12h"},
		"too short": {"name: a\nqueues:\n  q: {retention: 59}",
			"shop.yaml:3:18: 59: retention is from 1m to 14d"},
		"too late":    {"name: a\nqueues:\n  q: {delay: 901}", "901: delay is from 0s to 15m"},
		"too patient": {"name: a\nqueues:\n  q: {wait: 21s}", "21s: wait is from 0s to 20s"},
		"too large": {"name: a\nqueues:\n  q: {max-message-size: 2MiB}",
			"2MiB: max-message-size is from 1KiB to 1MiB"},
		"key's reuse": {"name: a\nqueues:\n  q: {kms-key-reuse: 2d}", "2d: kms-key-reuse is from 1m to 1d"},
		"too often": {"name: a\nqueues:\n  q: {dead-letters: {queue: d, max-receives: 1001}}\n  d:",
			"shop.yaml:3:46: want a number of receives from 1 to 1000"},
		"dead letters' type": {"name: a\nqueues:\n  q.fifo: {dead-letters: d}\n  d:",
			"shop.yaml:3:26: d is not of the same type as q.fifo"},
		"dead letters' place": {"name: a\nqueues:\n  q: {dead-letters: 'arn:aws:sqs:eu-west-1:000000000000:d'}",
			"dead letters go to a queue of the same account and region"},
		"dead letters' ARN": {"name: a\nqueues:\n  q: {dead-letters: 'arn:aws:sns:us-east-1:000000000000:d'}",
			"want a queue, or the ARN of one"},
		"dead letters denied": {"name: a\nqueues:\n  q: {dead-letters: d}\n  d: {redrive-allow: [e]}\n  e:",
			"shop.yaml:3:21: d does not take the dead letters of q"},
		"too many sources": {"name: a\nqueues:\n  q: {redrive-allow: [q, q, q, q, q, q, q, q, q, q, q]}",
			"these are 11 queues: at most 10"},
		"throughput": {"name: a\nqueues:\n  q.fifo: {throughput-limit: perMessageGroupId, deduplication-scope: queue}",
			"perMessageGroupId takes deduplication-scope"},
		"two encryptions": {"name: a\nqueues:\n  q: {kms-key: k, managed-encryption: true}",
			"cannot have managed-encryption, too"},
		"queue's policy": {"name: a\nqueues:\n  q:\n    policy: {Version: 2012-10-17, Statement: {Effect: Permit, Principal: '*', Action: 'sqs:*', Resource: '*'}}", "shop.yaml:4:13: "},
		"user's policy":  {"name: a\nusers:\n  u:\n    inline: {p: {Statement: {Effect: Allow, Actions: 'sqs:*', Resource: '*'}}}", `shop.yaml:4:17: `},
		"role's trust": {"name: a\nroles:\n  r: {trust: {Statement: {Effect: Allow, Action: 'sts:AssumeRole'}}}",
			"shop.yaml:3:14: "},
		"role's session": {"name: a\nroles:\n  r: {max-session: 13h, trust: {Statement: []}}",
			"13h: max-session is from 1h to 12h"},
		"display name": {"name: a\ntopics:\n  t: {display-name: " + strings.Repeat("x", 101) + "}",
			"at most 100 characters"},
		"FIFO queue of topic": {"name: a\ntopics:\n  t: {subscriptions: [q.fifo]}\nqueues: {q.fifo: }",
			"shop.yaml:3:23: a FIFO queue can be subscribed to a FIFO topic only"},
		"mail of FIFO topic": {"name: a\ntopics:\n  t.fifo: {subscriptions: [a@b.example]}",
			"a FIFO topic delivers to queues only"},
		"undeliverable": {"name: a\ntopics:\n  t: {subscriptions: [{queue: q, dead-letters: d.fifo}]}\nqueues: {q: , d.fifo: }", "what cannot be delivered to a FIFO queue"},
		"filter": {"name: a\ntopics:\n  t: {subscriptions: [{queue: q, filter: {a: 1}}]}\nqueues: {q: }",
			"shop.yaml:3:42: "},
		"unknown metric": {"name: a\nalarms:\n  x: {" + sound + ", metric: Nope}", "AWS/SQS has no metric Nope"},
		"misspelt metric": {"name: a\nalarms:\n  x: {" + sound + ", metric: NumberOfMessageSent}",
			"did you mean NumberOfMessagesSent?"},
		"topic's metric":    {"name: a\nalarms:\n  x: {topic: t, metric: NumberOfMessagesSent, statistic: Sum, period: 1m, periods: 1, when: '>', threshold: 1}", "AWS/SNS has no metric"},
		"unknown statistic": {"name: a\nalarms:\n  x: {queue: q, metric: NumberOfMessagesSent, statistic: Total, period: 1m, periods: 1, when: '>', threshold: 1}", "there is no statistic Total"},
		"unknown unit": {"name: a\nalarms:\n  x: {" + sound + ", metric: NumberOfMessagesSent, unit: Pieces}",
			"there is no unit Pieces"},
		"odd period":       {"name: a\nalarms:\n  x: {queue: q, metric: NumberOfMessagesSent, statistic: Sum, period: 90s, periods: 1, when: '>', threshold: 1}", "90s: a period is 10s, 20s, 30s or whole minutes"},
		"short period":     {"name: a\nalarms:\n  x: {queue: q, metric: NumberOfMessagesSent, statistic: Sum, period: 10s, periods: 1, when: '>', threshold: 1}", "is whole minutes"},
		"too many periods": {"name: a\nalarms:\n  x: {queue: q, metric: NumberOfMessagesSent, statistic: Sum, period: 5m, periods: 289, when: '>', threshold: 1}", "289 periods of 5m are longer than a day"},
		"half a period":    {"name: a\nalarms:\n  x: {queue: q, metric: NumberOfMessagesSent, statistic: Sum, period: 5m, periods: 1.5, when: '>', threshold: 1}", "1.5: want a whole number"},
		"datapoints": {"name: a\nalarms:\n  x: {" + sound + ", metric: NumberOfMessagesSent, datapoints: 3}",
			"these are 3 datapoints of 2 periods"},
		"no threshold": {"name: a\nalarms:\n  x: {queue: q, metric: NumberOfMessagesSent, statistic: Sum, period: 1m, periods: 1, when: '>'}", "alarm x has no threshold"},
		"far topic": {"name: a\nalarms:\n  x: {" + sound +
			", metric: NumberOfMessagesSent, notify: 'arn:aws:sns:eu-west-1:000000000000:t'}",
			"want a topic of the same region"},
		"merge": {"name: a\nqueues:\n  a: &a {delay: 1}\n  b: {<<: *a}", "<< is not understood"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(c.text), "shop.yaml", home)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestAliasesAreBounded(t *testing.T) {
	text := "name: a\npolicies:\n  p:\n    document:\n      a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for letter := 'b'; letter <= 'j'; letter++ {
		text += "      " + string(letter) + ": &" + string(letter) + " [" + strings.Repeat("*"+string(letter-1)+", ",
			10) + "]\n"
	}
	if _, err := Parse([]byte(text), "shop.yaml", home); err == nil ||
		!strings.Contains(err.Error(), "repeated too often") {
		t.Error(err)
	}
	if _, err := Parse([]byte("name: a\nqueues: &q\n  x: *q"), "shop.yaml", home); err == nil {
		t.Error("a mapping that contains itself is accepted")
	}
	if _, err := Parse(make([]byte, MaxFile+1), "shop.yaml", home); err == nil ||
		!strings.Contains(err.Error(), "at most") {
		t.Error(err)
	}
}

func parsed(t *testing.T, text string) *File {
	t.Helper()
	f, err := Parse([]byte(text), "shop.yaml", home)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestMeaningOfAFile(t *testing.T) {
	f := parsed(t, `
name: shop
queues:
  orders: {retention: 1d2h, delay: 90, max-message-size: 64 KiB, dead-letters: failed, attributes: {New: 1}}
  failed: {redrive-allow: [orders], policy: {Version: 2012-10-17, Statement: {Effect: Allow, Action: "sqs:SendMessage", Principal: {AWS: 012345678901}, Resource: "${queue.failed} $${queue.failed} ${aws:username}"}}}
topics:
  news: {subscriptions: orders}
regions:
  eu-west-1: {queues: {orders: }}
accounts:
  "111122223333":
    users: {u: {policies: none, boundary: ReadOnlyAccess}}
    regions: {eu-west-1: {queues: {far: }}}
`)
	var got []string
	for _, r := range f.Resources {
		step, _ := create(r)
		for _, c := range step.Changes {
			got = append(got, r.Account[:3]+" "+r.Region+" "+r.Ref.String()+" "+c.Setting+" "+*c.Is)
		}
		if len(step.Changes) == 0 {
			got = append(got, r.Account[:3]+" "+r.Region+" "+r.Ref.String())
		}
	}
	statement := topicStatement("arn:aws:sns:us-east-1:000000000000:news", "arn:aws:sqs:us-east-1:000000000000:orders")
	want := []string{
		`111  user u boundary arn:aws:iam::aws:policy/ReadOnlyAccess`,
		`000 eu-west-1 queue orders`,
		`000 us-east-1 queue failed policy {"Statement":{"Action":"sqs:SendMessage","Effect":"Allow","Principal":{"AWS":"012345678901"},"Resource":"arn:aws:sqs:us-east-1:000000000000:failed ${queue.failed} ${aws:username}"},"Version":"2012-10-17"}`,
		`000 us-east-1 queue failed redrive-allow {"redrivePermission":"byQueue","sourceQueueArns":["arn:aws:sqs:us-east-1:000000000000:orders"]}`,
		`000 us-east-1 queue orders attributes.New 1`,
		`000 us-east-1 queue orders dead-letters {"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:failed","maxReceiveCount":5}`,
		`000 us-east-1 queue orders delay 90`,
		`000 us-east-1 queue orders max-message-size 65536`,
		`000 us-east-1 queue orders permission.arn:aws:sns:us-east-1:000000000000:news ` + statement,
		`000 us-east-1 queue orders retention 93600`,
		`111 eu-west-1 queue far`,
		`000 us-east-1 topic news`,
		`000 us-east-1 subscription of orders to news`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func FuzzParse(f *testing.F) {
	f.Add("name: a\nqueues:\n  x: {dead-letters: y}\n  y: {dead-letters: x}\n")
	f.Add("name: a\ntopics:\n  t: {subscriptions: [https://a:b@c, {queue: q, filter: {a: [1]}}]}\nqueues: {q: {policy: {Statement: []}}}")
	f.Add("name: a\ncomposite-alarms: {b: {rule: ALARM(a)}, a: {rule: 'OK(b)', suppressor: none}}")
	f.Add("name: a\nroles: {r: {trust: {Statement: {Principal: {AWS: '${role.r}'}}}}}\nalarms: {a: {metrics: [{Id: m}], when: '>', periods: 1}}")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Parse([]byte(text), "f", home)
		if err != nil {
			return
		}
		comesBack(t, file)
	})
}

// asApplied returns the result of an apply, as a server would return it.
func asApplied(f *File) Found {
	found := make(Found)
	for _, r := range f.Resources {
		is := &Actual{Ref: r.Ref, Settings: Settings{}}
		for key, value := range r.Settings {
			if value != "" || settingOf(r.Kind, key).form != single {
				is.Settings[key] = value
			}
		}
		for topic, statement := range permittedTopics(is.Settings["policy"], r.ARN("")) {
			is.Settings[permission+"."+topic] = statement
		}
		policy, _ := policyWith(is.Settings["policy"], r.Settings)
		if policy != "" {
			is.Settings["policy"] = policy
		}
		is.arn = r.ARN(is.Settings["path"])
		is.Settings[tagPrefix+AppliedBy] = f.Name
		found[r.key()] = is
	}
	return found
}

// comesBack checks that the result of a file matches it, and that its export does, too.
func comesBack(t interface {
	Helper()
	Fatalf(string, ...any)
}, file *File) {
	t.Helper()
	found := asApplied(file)
	again, err := Compare(file, found, true)
	if err != nil || len(again.Steps) > 0 {
		t.Fatalf("applied twice: %v %s", err, printed(again))
	}
	if len(file.Scopes()) > 1 {
		return
	}
	text, err := write(found, home, "export")
	if err != nil {
		t.Fatalf("%v", err)
	}
	exported, err := Parse(text, "export", home)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	plan, err := Compare(exported, found, true)
	if err != nil || len(plan.Steps) > 0 {
		t.Fatalf("%v %s\n%s", err, printed(plan), text)
	}
}

func printed(p *Plan) string {
	var b strings.Builder
	p.Print(&b, home)
	return b.String()
}
