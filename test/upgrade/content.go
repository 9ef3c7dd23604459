package upgrade

import "time"

// Content is what a data directory has.
type Content struct {
	Commit string // of the program that wrote it
	Date   string // of the commit
	Made   time.Time
	Format int // 0: no file has it
	RootID string
	Secret string // of the root's key
	Queues []*Queue
	Users  []User
	Topics []Topic
	Alarms []string `json:",omitempty"`

	Trails   []string  `json:",omitempty"`
	Redrives []Redrive `json:",omitempty"`
	Logins   []Login   `json:",omitempty"`
	Limits   []Limit   `json:",omitempty"`
	Deleted  []string  `json:",omitempty"` // queues
	Undone   []undone  `json:",omitempty"`
	Mutes    []string  `json:",omitempty"` // rules that mute alarms
	// Composites are composite alarms.
	Composites []string `json:",omitempty"`
	// Keys is the file with the encryption keys, if messages are encrypted.
	Keys    string `json:",omitempty"`
	Counted bool   `json:",omitempty"` // metrics of queues are what counted says, if its program counts
	// Median is the range of the median message size of the queue jobs, if its program knows sizes.
	Median *Range `json:",omitempty"`
	// Insights are trails with insights.
	Insights []string `json:",omitempty"`
	// Backup means that the archive is not a data directory but a place with continuous backups, the last of which has
	// everything on the list.
	Backup bool `json:",omitempty"`
}

// Range has two bounds.
type Range struct{ Least, Most float64 }

// Queue is a queue with its messages.
type Queue struct {
	Name       string
	URL        string `json:"-"`
	Attributes map[string]string
	Tags       map[string]string `json:",omitempty"`
	Visible    []*Message        `json:",omitempty"` // in the order in which they were sent
	InFlight   []*Message        `json:",omitempty"`
	Delayed    []*Message        `json:",omitempty"`
}

// Message is a message.
type Message struct {
	ID        string
	Body      string
	Group     string `json:",omitempty"`
	Dedup     string `json:",omitempty"`
	Attribute string `json:",omitempty"` // its message attribute kind
	Handle    string `json:",omitempty"` // of one that is in flight
}

// User is a user with an access key.
type User struct{ Name, ID, Secret string }

// Topic is a topic to which a queue subscribes.
type Topic struct{ ARN, Queue string }
