package upgrade

import "fmt"

// Redrive is a task that moves selected messages out of a queue, and that may not be done.
type Redrive struct {
	From, To    string
	Goes, Stays int // messages
}

// redrives starts a task that takes some seconds.
func (f *filler) redrives() error {
	r := Redrive{From: "mixed", To: "chosen", Goes: 5, Stays: 10}
	from, err := f.create(r.From, map[string]string{"MessageRetentionPeriod": longest})
	if err != nil {
		return err
	}
	if _, err := f.create(r.To, map[string]string{"MessageRetentionPeriod": longest}); err != nil {
		return err
	}
	f.content.Queues = f.content.Queues[:len(f.content.Queues)-2] // the progress of each is unknown
	for i := range r.Goes + r.Stays {
		body := fmt.Sprint("stays ", i)
		if i%3 == 0 {
			body = fmt.Sprint("goes ", i)
		}
		if _, err := f.send(from, &Message{Body: body}, nil); err != nil {
			return err
		}
	}
	if err := f.Sluice(f.ctx, "RedriveMessages", map[string]any{
		"QueueUrl": r.From, "Filter": "goes", "DestinationArn": "arn:aws:sqs:us-east-1:000000000000:" + r.To,
		"MaxNumberOfMessagesPerSecond": 1,
	}, nil); err != nil {
		return err
	}
	f.content.Redrives = append(f.content.Redrives, r)
	return nil
}

// redrive checks that a task comes to its end.
func (k *checker) redrive(r Redrive) error {
	return k.persist(func() error {
		var found struct {
			Tasks []struct {
				Status string
				Moved  int
			}
		}
		if err := k.Sluice(k.ctx, "ListRedriveTasks", map[string]string{"QueueUrl": r.From}, &found); err != nil {
			return err
		}
		if len(found.Tasks) != 1 || found.Tasks[0].Status != "COMPLETED" || found.Tasks[0].Moved != r.Goes {
			return fmt.Errorf("the task that moves messages from %s to %s is %+v", r.From, r.To, found.Tasks)
		}
		for name, n := range map[string]int{r.From: r.Stays, r.To: r.Goes} {
			q := &Queue{Name: name}
			if err := k.find(q); err != nil {
				return err
			}
			if err := k.counts(q, n, 0, 0); err != nil {
				return fmt.Errorf("queue %s: %w", name, err)
			}
		}
		return nil
	})
}
