package admin

import (
	"errors"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// refusal returns an error of this service.
func refusal(code string, status int, format string, args ...any) *protocol.Error {
	return service.Modelled(code+"Exception", code, status, format, args...)
}

// failure reports that a change could not be made, with the reason if it is the disk.
func failure(err error) error {
	if service.OfTheDisk(err) {
		return service.Failure(err)
	}
	return errors.Join(protocol.ServiceUnavailable(), err)
}
