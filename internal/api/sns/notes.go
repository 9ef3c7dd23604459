package sns

// What the request log says about a request to SNS, besides who has made it and what became of it.
const (
	noteTopic        = "topic"        // ARN
	noteSubscription = "subscription" // ARN
	noteMessages     = "messages"     // how many were published
	noteMessageIDs   = "message_ids"
	noteDuplicates   = "duplicates" // how many publications were acknowledged and not delivered again
	noteCopies       = "copies"     // how many subscriptions got the messages
	noteRefused      = "refused"    // how many subscriptions did not, because of their queues
)
