package queue

// notices collect events of transactions for the owner of the engine. The owner takes each list when the transaction is
// durable. After a failed transaction it discards the lists with the engine, and Load finds the pending work again.
type notices struct {
	deadLetters
	deliverable []ID // queues of subscriptions that have become available
	searches    []ID // queues with tasks that need a search
}

// Deliverable returns the internal queues that have become available since the last call; see Available. After Load it
// returns all available ones. It may return a queue twice, or one that is no longer available.
func (n *notices) Deliverable() []ID {
	ids := n.deliverable
	n.deliverable = nil
	return ids
}

// Searches returns the queues whose tasks have begun to need a search since the last call. It must not be called after
// a failed transaction: the newly loaded engine returns all of them.
func (n *notices) Searches() []ID {
	ids := n.searches
	n.searches = nil
	return ids
}
