package iam

import (
	"errors"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// defaultItems is the default number of entries of a page.
const defaultItems = 100

// paginate returns the page of all, which is sorted by key, that follows the marker.
func paginate[T any](all []T, key func(T) string, marker *string, maxItems *int32) (service.Page[T], error) {
	after, most := "", defaultItems
	if marker != nil {
		after = *marker
	}
	if maxItems != nil {
		most = int(*maxItems)
	}
	p, err := service.Paginate(all, key, after, "", most)
	if errors.Is(err, service.ErrToken) || errors.Is(err, service.ErrOtherList) {
		return service.Page[T]{}, protocol.ValidationError("Invalid Marker.")
	}
	return p, err
}
