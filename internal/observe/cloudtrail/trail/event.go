package trail

import (
	"encoding/json"
	"time"
)

// Event is an event in CloudTrail's form. Fields are in CloudTrail's order.
type Event struct {
	EventVersion        string          `json:"eventVersion"`
	UserIdentity        Identity        `json:"userIdentity"`
	EventTime           time.Time       `json:"eventTime"`
	EventSource         string          `json:"eventSource"` // sqs.amazonaws.com
	EventName           string          `json:"eventName"`
	AWSRegion           string          `json:"awsRegion"`
	SourceIPAddress     string          `json:"sourceIPAddress"`
	UserAgent           string          `json:"userAgent"`
	ErrorCode           string          `json:"errorCode,omitempty"`
	ErrorMessage        string          `json:"errorMessage,omitempty"`
	RequestParameters   json.RawMessage `json:"requestParameters"`
	ResponseElements    json.RawMessage `json:"responseElements"`
	AdditionalEventData json.RawMessage `json:"additionalEventData,omitempty"` // of sign-ins
	ServiceEventDetails json.RawMessage `json:"serviceEventDetails,omitempty"` // of a service's own actions
	RequestID           string          `json:"requestID"`
	EventID             string          `json:"eventID"`
	ReadOnly            bool            `json:"readOnly"`
	Resources           []Resource      `json:"resources,omitempty"`
	EventType           string          `json:"eventType"`
	ManagementEvent     bool            `json:"managementEvent"`
	RecipientAccountID  string          `json:"recipientAccountId"`
	// of the events that one call has in several accounts
	SharedEventID string      `json:"sharedEventID,omitempty"`
	EventCategory string      `json:"eventCategory"`
	TLSDetails    *TLSDetails `json:"tlsDetails,omitempty"`
}

// Identity is the caller.
type Identity struct {
	Type           string          `json:"type"` // Root, IAMUser, AssumedRole, FederatedUser, WebIdentityUser, AWSAccount or AWSService
	PrincipalID    string          `json:"principalId,omitempty"`
	ARN            string          `json:"arn,omitempty"`
	AccountID      string          `json:"accountId,omitempty"`
	AccessKeyID    string          `json:"accessKeyId,omitempty"`
	UserName       string          `json:"userName,omitempty"`
	SessionContext *SessionContext `json:"sessionContext,omitempty"`
	InvokedBy      string          `json:"invokedBy,omitempty"`

	IdentityProvider string `json:"identityProvider,omitempty"` // of a WebIdentityUser
}

// SessionContext describes the session of temporary keys.
type SessionContext struct {
	SessionIssuer *SessionIssuer    `json:"sessionIssuer,omitempty"`
	Attributes    SessionAttributes `json:"attributes"`
	WebID         *WebID            `json:"webIdFederationData,omitempty"`

	SourceIdentity string `json:"sourceIdentity,omitempty"`
}

// WebID is the identity provider's part of a session's context.
type WebID struct {
	Provider   string            `json:"federatedProvider"`
	Attributes map[string]string `json:"attributes"`
}

// SessionIssuer is the role or user that a session acts for.
type SessionIssuer struct {
	Type        string `json:"type"`
	PrincipalID string `json:"principalId"`
	ARN         string `json:"arn"`
	AccountID   string `json:"accountId"`
	UserName    string `json:"userName"`
}

// SessionAttributes hold the beginning of a session. CloudTrail encodes the boolean as text.
type SessionAttributes struct {
	CreationDate     time.Time `json:"creationDate"`
	MFAAuthenticated string    `json:"mfaAuthenticated"`
}

// Resource is the resource of a call.
type Resource struct {
	AccountID string `json:"accountId,omitempty"`
	Type      string `json:"type,omitempty"` // AWS::SQS::Queue
	ARN       string `json:"ARN"`
}

// TLSDetails describe the connection of a call.
type TLSDetails struct {
	ClientProvidedHostHeader string `json:"clientProvidedHostHeader"`
}

// Global reports whether the service that an event comes from has no regions.
func Global(source string) bool {
	return source == "iam.amazonaws.com" || source == "sts.amazonaws.com" || source == "signin.amazonaws.com"
}

const (
	eventVersion = "1.11"
	// maxPart is the maximum size of the parameters and the answer in an event, in bytes. A longer part is replaced by
	// a note.
	maxPart = 24 << 10
	// maxText is the maximum size of other texts from a client, in bytes.
	maxText = 1 << 10
)

// encode returns the stored form of the event.
func (e *Event) encode() []byte {
	b, err := json.Marshal(e)
	if err != nil {
		panic(err) // the raw parts were checked
	}
	return b
}
