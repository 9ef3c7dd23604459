package sns

// The attributes of a request to SNS in the request log, in addition to its caller and its outcome.
const (
	noteTopic        = "topic"        // ARN
	noteSubscription = "subscription" // ARN
	noteMessages     = "messages"     // how many were published
	noteMessageIDs   = "message_ids"
	noteDuplicates   = "duplicates" // how many publications were acknowledged and not delivered again
	noteCopies       = "copies"     // how many subscriptions got the messages
	noteRefused      = "refused"    // how many subscriptions did not, because of their queues
)
