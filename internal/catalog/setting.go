package catalog

import (
	"fmt"

	"github.com/sluicemq/sluice/internal/queue"
)

// Settings are the tags that have a meaning for this server.
var Settings = []string{TagShards, TagDelivery, TagReceiveRate, TagInFlight, TagIdle}

// CheckSetting returns a sentence about the mistake in the value of one of Settings, or an empty text. It returns false
// for other tags.
func CheckSetting(tag, value string) (wrong string, known bool) {
	ok := false
	switch tag {
	case TagShards:
		_, ok = ParseSpread(value)
		wrong = fmt.Sprintf("Must be an integer from 1 to %d.", MaxSpread)
	case TagDelivery:
		ok = value == DeliveryPaused
		wrong = "Must be " + DeliveryPaused + "; without the tag messages are delivered."
	case TagReceiveRate:
		_, ok = ParseRate(value)
		wrong = fmt.Sprintf("Must be messages in a second, minute or hour, such as 50/s, 10/m or 100/h, at most %d.", maxRate)
	case TagInFlight:
		_, ok = ParseInFlight(value)
		wrong = fmt.Sprintf("Must be an integer from 1 to %d.", queue.MaxInFlight)
	case TagIdle:
		ok = value == IdleKeep
		wrong = "Must be " + IdleKeep + "; without the tag the queue may be deleted when it is unused, if the server has that option."
	default:
		return "", false
	}
	if ok {
		wrong = ""
	}
	return wrong, true
}
