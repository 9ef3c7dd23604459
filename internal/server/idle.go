package server

import (
	"errors"
	"fmt"
	"time"

	"github.com/sluicemq/sluice/internal/idle"
)

// validateIdle checks DeleteIdleAfter.
func (c *Config) validateIdle() error {
	switch after := c.DeleteIdleAfter; {
	case after == 0:
		return nil
	case after < idle.Least:
		return fmt.Errorf("--delete-idle-queues-after %s: want %s or more, such as 720h, or 0 to delete no queue", after, hours(idle.Least))
	case c.Keep.Minutes == 0:
		return errors.New(
			"--delete-idle-queues-after needs the metrics of queues, which show their last use: leave --metrics-keep-minutes above 0",
		)
	}
	return nil
}

// hours formats a duration for people.
func hours(d time.Duration) string { return fmt.Sprintf("%dh", d/time.Hour) }
