// Package retry reads the delivery policies of topics and subscriptions: how often and when a delivery over HTTP is
// retried, the maximum rate of deliveries, and their content type. It is a pure function of the texts.
//
//	topic, err := retry.ParseTopic(text)                  // when it is set, and when it is loaded
//	own, err := retry.ParseSubscription(text)
//	policy := retry.Effective(topic, own)                 // for a delivery
//	if delay, again := policy.Delay(attempt); again { … }
//
// The retries are in four phases: at once, then with the shortest delay, then with delays that grow from the shortest
// to the longest, then with the longest. The third phase has the rest of numRetries. Of n growing delays, delay i, from
// 0 to n−1, is, with x = i/(n−1):
//
//	linear       min + (max−min)·x
//	arithmetic   min + (max−min)·i(i+1)/((n−1)n)
//	geometric    min·(max/min)^x
//	exponential  min + (max−min)·(2^i−1)/(2^(n−1)−1)
//
// A single one has the longest delay. AWS names the four functions but does not define them.
//
// Sources: the Amazon SNS Developer Guide, "Message delivery retries", and the words of AWS's refusals as its users
// report them.
package retry
