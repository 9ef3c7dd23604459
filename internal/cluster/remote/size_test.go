package remote

import (
	"testing"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// A list is refused as malformed if the rest of the message is too short for its elements. The assumed minimum size of
// an element must therefore not exceed its shortest form.
func TestLeastSizes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		size int
		put  func(*writer)
	}{
		"attribute":   {sizeAttribute, func(w *writer) { putAttribute(w, new(queue.Attribute)) }},
		"outgoing":    {sizeOutgoing, func(w *writer) { putOutgoing(w, new(queue.Outgoing)) }},
		"sent":        {sizeSent, func(w *writer) { putSent(w, new(queue.Sent)) }},
		"publication": {sizePublication, func(w *writer) { putPublication(w, new(queue.Publication)) }},
		"delivery":    {sizeDelivery, func(w *writer) { putDelivery(w, new(queue.Delivery)) }},
		"message":     {sizeMessage, func(w *writer) { putMessage(w, new(shard.Message)) }},
		"transfer":    {sizeTransfer, func(w *writer) { putTransfer(w, new(queue.Transfer)) }},
		"receipt":     {sizeReceipt, func(w *writer) { putReceipt(w, new(queue.Receipt)) }},
		"visibility":  {sizeVisibility, func(w *writer) { putVisibility(w, new(queue.Visibility)) }},
		"move":        {sizeMove, func(w *writer) { putMove(w, new(queue.MoveTask)) }},
		"task":        {sizeTask, func(w *writer) { putTask(w, new(queue.MoveTask)) }},
		"result":      {sizeResult, func(w *writer) { putMoveResult(w, new(queue.MoveResult)) }},
		"message id":  {sizeMessageID, func(w *writer) { putMessageID(w, new(queue.MessageID)) }},
		"id":          {sizeID, func(w *writer) { putID(w, new(queue.ID)) }},
		"error":       {sizeError, func(w *writer) { putError(w, nil) }},
		"peeked":      {sizePeeked, func(w *writer) { putPeeked(w, new(queue.Peeked)) }},
		"row":         {sizeRow, func(w *writer) { putRow(w, new(queue.Row)) }},
		"sized row":   {sizeRow + 1, func(w *writer) { putSizedRow(w, new(queue.Row)) }},
		"series name": {sizeSeriesName, func(w *writer) { putSeriesName(w, new(queue.SeriesName)) }},
		"state":       {sizeState, func(w *writer) { putState(w, new(shard.State)) }},
		"glance":      {sizeGlance, func(w *writer) { putGlance(w, new(shard.Glance)) }},
		"group":       {sizeGroup, func(w *writer) { putGroup(w, new(queue.Group)) }},
	} {
		w := new(writer)
		c.put(w)
		if n := len(w.Writer); n < c.size {
			t.Errorf("%s: the shortest has %d bytes, and %d are asked for", name, n, c.size)
		}
	}
}
