package apitest

// DumpRegion returns everything that clients can see of the queues of the region.
func DumpRegion(c *Client) Object {
	c.T.Helper()
	all := Object{}
	for _, u := range c.Make("ListQueues", nil)["QueueUrls"].(List) {
		all[u.(string)] = List{
			c.Make("GetQueueAttributes", Object{"QueueUrl": u, "AttributeNames": List{"All"}}),
			c.Make("ListQueueTags", Object{"QueueUrl": u}),
		}
	}
	return all
}

// SomeMessage matches a received message with only a body.
var SomeMessage = Object{"MessageId": UUID, "ReceiptHandle": Handles, "MD5OfBody": Anything, "Body": Anything}
