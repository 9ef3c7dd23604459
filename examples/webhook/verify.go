package main

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// message is what a topic delivers.
type message struct {
	Type, MessageId, TopicArn, Message, Timestamp string
	Subject                                       *string // may be empty
	Token, SubscribeURL                           string  // of a SubscriptionConfirmation
	SignatureVersion, Signature, SigningCertURL   string
}

// signed returns the text that the signature is over: names and values, each on a line of its own.
func (m *message) signed() string {
	pairs := []string{"Message", m.Message, "MessageId", m.MessageId}
	if m.Type == "Notification" {
		if m.Subject != nil {
			pairs = append(pairs, "Subject", *m.Subject)
		}
		pairs = append(pairs, "Timestamp", m.Timestamp, "TopicArn", m.TopicArn, "Type", m.Type)
	} else {
		pairs = append(pairs, "SubscribeURL", m.SubscribeURL, "Timestamp", m.Timestamp,
			"Token", m.Token, "TopicArn", m.TopicArn, "Type", m.Type)
	}
	return strings.Join(pairs, "\n") + "\n"
}

// verifier checks that messages come from a server.
type verifier struct {
	server string // the URL at which this program knows it

	mu           sync.Mutex
	certificates map[string]*x509.Certificate // by URL
}

// verify returns nil if the server has signed the message.
func (v *verifier) verify(m *message) error {
	certificate, err := v.certificate(m.SigningCertURL)
	if err != nil {
		return err
	}
	algorithm := x509.SHA1WithRSA
	if m.SignatureVersion == "2" {
		algorithm = x509.SHA256WithRSA
	}
	signature, err := base64.StdEncoding.DecodeString(m.Signature)
	if err != nil {
		return err
	}
	return certificate.CheckSignature(algorithm, []byte(m.signed()), signature)
}

// certificate fetches a certificate, once. Any sender can sign a message with a certificate of their own and say where
// it is: what makes the certificate the server's is that it comes from the server's address.
func (v *verifier) certificate(url string) (*x509.Certificate, error) {
	if !strings.HasPrefix(url, v.server+"/SimpleNotificationService-") {
		return nil, fmt.Errorf("%s is not a certificate of %s", url, v.server)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if known := v.certificates[url]; known != nil {
		return known, nil
	}
	answer, err := http.Get(url)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("there is no certificate at " + url)
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, err
	}
	if v.certificates == nil {
		v.certificates = make(map[string]*x509.Certificate)
	}
	v.certificates[url] = certificate
	return certificate, nil
}
