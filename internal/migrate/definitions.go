package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/declared"
)

// Side is the source or the target: an account in a region of a server.
type Side struct {
	Home    declared.Scope
	Connect declared.Connect
}

// Definitions holds the queues, topics and subscriptions of the source, and those that the target lacks.
type Definitions struct {
	Plan    *declared.Plan // creates what the target lacks
	Differs []string       // existing in the target, but with other settings
	Notes   []string       // missing in the source, or unknown there

	queues  []string // the names of the queues to move
	session *declared.Session
}

// Name is the name of the file with the definitions: the value of the tag sluice-applied-by.
const Name = "migrated"

// HomeOf returns the account and region of a server. Not all servers have STS, so it also uses the ARN of a queue.
func HomeOf(ctx context.Context, api declared.API, region string) (declared.Scope, error) {
	urls, err := queueURLs(ctx, api)
	if err != nil {
		return declared.Scope{}, err
	}
	if len(urls) == 0 {
		return declared.HomeOf(ctx, api, region)
	}
	attributes, err := attributesOf(ctx, api, urls[0])
	if err != nil {
		return declared.Scope{}, err
	}
	arn := strings.Split(attributes["QueueArn"], ":")
	if len(arn) != 6 {
		return declared.Scope{}, fmt.Errorf(
			"the queue %s has the ARN %q, which is none", urls[0], attributes["QueueArn"],
		)
	}
	return declared.Scope{Partition: arn[1], Region: arn[3], Account: arn[4]}, nil
}

// Read reads the definitions of the source, and compares them with the target. names limits them to some queues,
// without topics.
func Read(ctx context.Context, from, to Side, names []string) (*Definitions, error) {
	api, err := from.Connect(ctx, from.Home)
	if err != nil {
		return nil, err
	}
	d := &Definitions{session: declared.NewSession(to.Home, to.Connect)}
	kinds := []declared.Kind{declared.QueueKind}
	if len(names) == 0 {
		if err := api.SNS(ctx, "ListTopics", nil); err == nil {
			kinds = append(kinds, declared.TopicKind, declared.SubscriptionKind)
		} else {
			d.Notes = append(d.Notes, fmt.Sprintf("no topics are moved, because the source does not list any: %v", err))
		}
	}
	text, err := declared.NewSession(from.Home, from.Connect).ExportTo(ctx, from.Home, to.Home, Name, kinds...)
	if err != nil {
		return nil, fmt.Errorf("the source: %w", err)
	}
	file, err := declared.Parse(text, "the source", to.Home)
	if err != nil {
		return nil, err
	}
	if err := d.choose(file, names); err != nil {
		return nil, err
	}
	return d, d.compare(ctx, file)
}

// choose leaves only the named queues in a file; without names, it leaves all.
func (d *Definitions) choose(file *declared.File, names []string) error {
	file.Resources = slices.DeleteFunc(file.Resources, func(r *declared.Resource) bool {
		return len(names) > 0 && !slices.Contains(names, r.Name)
	})
	for _, r := range file.Resources {
		if r.Kind == declared.QueueKind {
			d.queues = append(d.queues, r.Name)
		}
	}
	for _, name := range names {
		if !slices.Contains(d.queues, name) {
			return fmt.Errorf("the source has no queue %s", name)
		}
	}
	return nil
}

// compare plans what to create. Resources of the target are never changed.
func (d *Definitions) compare(ctx context.Context, file *declared.File) error {
	found, err := d.session.Read(ctx, file, false)
	if err != nil {
		return fmt.Errorf("the target: %w", err)
	}
	plan, err := declared.Compare(file, found, false)
	if err != nil {
		return fmt.Errorf("the target: %w", err)
	}
	d.Notes = append(d.Notes, plan.Notes...)
	d.Plan = &declared.Plan{Name: Name}
	created := make(map[declared.Ref]bool)
	for _, step := range plan.Steps {
		switch {
		case step.Action == declared.Create || created[step.Ref]:
			created[step.Ref] = true
			d.Plan.Steps = append(d.Plan.Steps, step)
		default:
			var settings []string
			for _, change := range step.Changes {
				settings = append(settings, change.Setting)
			}
			d.Differs = append(d.Differs, fmt.Sprintf("%s: %s", step.Ref, strings.Join(settings, ", ")))
		}
	}
	return nil
}

// Apply creates what the target lacks. It continues after a failed step, and returns the errors of all.
func (d *Definitions) Apply(ctx context.Context, done func(*declared.Step)) error {
	var errs []error
	for _, step := range d.Plan.Steps {
		if err := d.session.Apply(ctx, &declared.Plan{Name: Name, Steps: []*declared.Step{step}}, done); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Queues returns the queues to move that exist in the target, and the names of the missing ones.
func (d *Definitions) Queues(ctx context.Context, from, to API) (queues []Queue, missing []string, err error) {
	for _, name := range d.queues {
		q := Queue{Name: name}
		if q.From, err = urlOf(ctx, from, name); err != nil {
			return nil, nil, fmt.Errorf("the source: %s: %w", name, err)
		}
		if q.To, err = urlOf(ctx, to, name); isRefusal(err) {
			missing = append(missing, name)
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("the target: %s: %w", name, err)
		}
		queues = append(queues, q)
	}
	return queues, missing, nil
}

// Same reports whether both sides are one server, as far as a common queue shows: a message would be moved forever.
func Same(ctx context.Context, from, to API, q Queue) (bool, error) {
	a, err := attributesOf(ctx, from, q.From)
	if err != nil {
		return false, err
	}
	b, err := attributesOf(ctx, to, q.To)
	for _, name := range []string{"QueueArn", "CreatedTimestamp", "LastModifiedTimestamp"} {
		if a[name] != b[name] {
			return false, err
		}
	}
	return true, err
}

// CountsOf asks the source for the number of messages in each queue.
func (d *Definitions) CountsOf(ctx context.Context, from API) ([]Waiting, error) {
	var all []Waiting
	for _, name := range d.queues {
		url, err := urlOf(ctx, from, name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		counts, err := countsOf(ctx, from, url)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, Waiting{name, counts})
	}
	return all, nil
}

// Waiting returns how many messages of a queue wait to be moved.
type Waiting struct {
	Queue string
	Counts
}

func urlOf(ctx context.Context, api API, name string) (string, error) {
	var found struct{ QueueUrl string }
	err := api.SQS(ctx, "GetQueueUrl", map[string]string{"QueueName": name}, &found)
	return found.QueueUrl, err
}

// queueURLs returns the first URLs of queues.
func queueURLs(ctx context.Context, api API) ([]string, error) {
	var page struct{ QueueUrls []string }
	err := api.SQS(ctx, "ListQueues", map[string]any{"MaxResults": 1000}, &page)
	return page.QueueUrls, err
}
