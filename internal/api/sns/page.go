package sns

import (
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/topic"
)

// The pages that are shown in the browsers of people who follow the link in a mail.

// pageOfConfirmation is for the owner of an address that receives messages from now on. It shows the address: only its
// owner has the token.
func (s *confirmations) pageOfConfirmation(sub *topic.Subscription) *protocol.Page {
	return &protocol.Page{
		Title: "Subscription confirmed", Text: []string{
			sub.Endpoint + " gets the messages of the topic " + sub.Topic.Topic + " from now on.",
			"The subscription is " + sub.ARN() + ".",
			"If you did not want that, follow this link:",
		},
		Link: s.links.unsubscribeURL(sub), LinkTo: "End this subscription",
	}
}

// pageOfEnd is for the person who has ended a subscription. It does not show the address, because people forward
// messages with the link.
func pageOfEnd(sub *topic.Subscription, back string) *protocol.Page {
	p := &protocol.Page{Title: "Subscription ended", Text: []string{
		"There will be no more messages of the topic " + sub.Topic.Topic + ".",
		"The subscription was " + sub.ARN() + ".",
	}}
	if back != "" {
		p.Text = append(p.Text, "If you did not want that, you can have it back within two days:")
		p.Link, p.LinkTo = back, "Subscribe again"
	}
	return p
}

// Pages of links that do nothing.
var (
	pageOfNoSubscription = protocol.Page{
		Title: "There is no such subscription",
		Text:  []string{"It has ended already. There is nothing more to do."},
	}
	pageOfNoToken = protocol.Page{Title: "This link does not work", Text: []string{
		"It is good for two days, as long as no newer one was sent. Ask the sender of the messages to subscribe you again.",
	}}
	pageOfOwner = protocol.Page{
		Title: "This link does not work",
		Text:  []string{"Only the owner of this subscription can end it, and not by a link."},
	}
)
