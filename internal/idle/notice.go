package idle

import "time"

// Least is the minimum time after which queues may be deleted: a queue that is used once a day must stay.
const Least = 24 * time.Hour

// Notice returns how long before a deletion it is announced: a tenth of the time, at most a day.
func Notice(after time.Duration) time.Duration { return min(after/10, 24*time.Hour) }
