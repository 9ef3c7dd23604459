package sqsbuffer

import "fmt"

// Settings configure the buffering of a Client, and start with the defaults.
type Settings struct {
	// LongPoll makes the receives that fill the buffer wait for messages. True by default.
	LongPoll bool

	// LongPollWaitTimeoutSeconds is how long such a receive waits, and the
	// default for ReceiveMessage. 1 to 20; 20 by default. It has no effect
	// without LongPoll.
	LongPollWaitTimeoutSeconds int

	// MaxBatchOpenMs is how many milliseconds a call waits for others to share its batch. 0 to 60000, where 0 means no
	// wait; 200 by default.
	MaxBatchOpenMs int

	// MaxBatchSize is the maximum number of messages in a batch, sent or received. 1 to 10; 10 by default.
	MaxBatchSize int

	// MaxBatchSizeBytes is the maximum size of a batch of messages to send: bodies, and names, types and values of
	// attributes. 1 to 1048576; 1048576 by default, the limit of Amazon SQS. Larger messages are sent alone.
	MaxBatchSizeBytes int

	// MaxDoneReceiveBatches is the maximum number of prefetched batches. 0 to 1000; 10 by default. 0 turns prefetching
	// off.
	MaxDoneReceiveBatches int

	// MaxInflightOutboundBatches is the maximum number of concurrent batches of one kind for one queue. 1 to 1000; 5 by
	// default. Batches for a FIFO queue are always sent one after the other.
	MaxInflightOutboundBatches int

	// MaxInflightReceiveBatches is the maximum number of concurrent receives from one queue. 0 to 1000; 10 by default.
	// 0 turns prefetching off.
	MaxInflightReceiveBatches int

	// VisibilityTimeoutSeconds is the visibility timeout of prefetched messages. 1 to 43200, or -1 for the queue's own,
	// which is the default.
	VisibilityTimeoutSeconds int
}

func defaults() Settings {
	return Settings{
		LongPoll:                   true,
		LongPollWaitTimeoutSeconds: 20,
		MaxBatchOpenMs:             200,
		MaxBatchSize:               10,
		MaxBatchSizeBytes:          1 << 20,
		MaxDoneReceiveBatches:      10,
		MaxInflightOutboundBatches: 5,
		MaxInflightReceiveBatches:  10,
		VisibilityTimeoutSeconds:   -1,
	}
}

// check returns an error for the first setting that is out of its range.
func (s *Settings) check() error {
	for _, setting := range []struct {
		name             string
		value, low, high int
	}{
		{"LongPollWaitTimeoutSeconds", s.LongPollWaitTimeoutSeconds, 1, 20},
		{"MaxBatchOpenMs", s.MaxBatchOpenMs, 0, 60_000},
		{"MaxBatchSize", s.MaxBatchSize, 1, 10},
		{"MaxBatchSizeBytes", s.MaxBatchSizeBytes, 1, 1 << 20},
		{"MaxDoneReceiveBatches", s.MaxDoneReceiveBatches, 0, 1000},
		{"MaxInflightOutboundBatches", s.MaxInflightOutboundBatches, 1, 1000},
		{"MaxInflightReceiveBatches", s.MaxInflightReceiveBatches, 0, 1000},
	} {
		if setting.value < setting.low || setting.value > setting.high {
			return fmt.Errorf(
				"sqsbuffer: %s is %d; it must be from %d to %d", setting.name, setting.value, setting.low, setting.high,
			)
		}
	}
	if v := s.VisibilityTimeoutSeconds; v != -1 && (v < 1 || v > 43200) {
		return fmt.Errorf("sqsbuffer: VisibilityTimeoutSeconds is %d; it must be from 1 to 43200, or -1 for the queue's own", v)
	}
	return nil
}

// prefetches reports whether messages are prefetched.
func (s *Settings) prefetches() bool {
	return s.MaxDoneReceiveBatches > 0 && s.MaxInflightReceiveBatches > 0
}
