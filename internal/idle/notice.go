package idle

import "time"

// Least is the shortest time after which queues may be deleted: what is used once a day must not go.
const Least = 24 * time.Hour

// Notice returns how long before it the deletion of a queue is announced: a tenth of the time, and a day at most.
func Notice(after time.Duration) time.Duration { return min(after/10, 24*time.Hour) }
