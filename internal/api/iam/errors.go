package iam

import (
	"net/http"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

func errNotFound(format string, args ...any) *protocol.Error {
	return service.Modelled("NoSuchEntityException", "NoSuchEntity", http.StatusNotFound, format, args...)
}

func errNoEntity(kind directory.Kind, name string) *protocol.Error {
	if kind == directory.Profile {
		return errNotFound("Instance Profile %s cannot be found.", name)
	}
	return errNotFound("The %s with name %s cannot be found.", kind, name)
}

// errTaken reports that an entity of that name exists.
func errTaken(kind directory.Kind, name string) *protocol.Error {
	if kind == directory.Profile {
		return errExists("Instance Profile %s already exists.", name)
	}
	return errExists("%s with name %s already exists.", words[kind], name)
}

func errNoKey(id string) *protocol.Error {
	return errNotFound("The Access Key with id %s cannot be found.", id)
}

func errNoPolicy(arn string) *protocol.Error { return errNotFound("Policy %s was not found.", arn) }

func errExists(format string, args ...any) *protocol.Error {
	return service.Modelled("EntityAlreadyExistsException", "EntityAlreadyExists", http.StatusConflict, format, args...)
}

// errConflict names what must be deleted first.
func errConflict(what string) *protocol.Error {
	return service.Modelled(
		"DeleteConflictException", "DeleteConflict", http.StatusConflict, "Cannot delete entity, must %s first.", what,
	)
}

func errLimit(format string, args ...any) *protocol.Error {
	return service.Modelled("LimitExceededException", "LimitExceeded", http.StatusConflict, format, args...)
}

func errQuota(what string, n int) *protocol.Error {
	return errLimit("Cannot exceed quota for %s: %d", what, n)
}

func errInput(format string, args ...any) *protocol.Error {
	return service.Modelled("InvalidInputException", "InvalidInput", http.StatusBadRequest, format, args...)
}

// errNoBoundary reports that a policy cannot be a boundary, which AWS calls a scope here.
func errNoBoundary(arn string) *protocol.Error {
	return errNotFound("Scope ARN: %s does not exist or is not attachable.", arn)
}

func errUnattachable(arn string) *protocol.Error {
	return errNotFound("Policy %s does not exist or is not attachable.", arn)
}
