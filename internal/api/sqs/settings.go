package sqs

import (
	"strings"

	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
)

// checkReserved refuses keys of tags that this server may use in the future. Such a tag can be removed: older versions
// accepted any.
func checkReserved(key string) error {
	const prefix = "sluice:"
	if _, known := catalog.CheckSetting(key, ""); known || !hasPrefixFold(key, prefix) {
		return nil
	}
	return protocol.InvalidParameterValue(
		"Tag keys beginning with %s are reserved for this service, which knows %s.",
		prefix,
		strings.Join(catalog.Settings, ", "),
	)
}

// checkSetting refuses an invalid value of a tag that this server interprets.
func checkSetting(key, value string) error {
	if wrong, _ := catalog.CheckSetting(key, value); wrong != "" {
		return errValue(value, "Tag."+key, wrong)
	}
	return nil
}
