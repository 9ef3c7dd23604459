// Command oidc is a real OpenID Connect provider for tests: the server of github.com/zitadel/oidc, which is certified,
// with its own example's storage and page, and two people who are in groups. It prints its issuer and runs until its
// standard input ends. With TLS it has a certificate of its own making, whose SHA-1 is on the line after the issuer.
//
//	oidc -redirect URL [-claims] [-tls]
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha1"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// The users who can sign in; the tests know them.
const (
	clientID = "sluice"
	secret   = "a secret of the client"
	password = "a password of the person"
)

var people = users{
	"248289761001": {
		ID: "248289761001", Username: "ann", Password: password, Email: "ann@example.com", EmailVerified: true,
	},
	"248289761002": {
		ID: "248289761002", Username: "bob", Password: password, Email: "bob@example.com", EmailVerified: true,
	},
	"248289761003": {ID: "248289761003", Username: "eve", Password: password, Email: "ann@example.com"},
}

var groups = map[string][]string{
	"248289761001": {"staff", "admins"}, "248289761002": {"staff"}, "248289761003": {"admins"},
}

func main() {
	redirect := flag.String("redirect", "", "where browsers are sent back to")
	inToken := flag.Bool("claims", false, "have all claims in the ID token, too, and not in UserInfo only")
	secure := flag.Bool("tls", false, "speak TLS")
	flag.Parse()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	issuer, thumbprint := "http://"+listener.Addr().String(), ""
	if *secure {
		issuer = "https://" + listener.Addr().String()
		if listener, thumbprint, err = overTLS(listener); err != nil {
			log.Fatal(err)
		}
	}
	clients := map[string]*storage.Client{clientID: storage.WebClient(clientID, secret, *redirect)}
	s := &store{storage.NewStorageWithClients(people, clients), *inToken}
	handler := exampleop.SetupServer(issuer, s, slog.New(slog.DiscardHandler), false)
	fmt.Println(issuer)
	fmt.Println(thumbprint)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // until the program that started it is gone
		os.Exit(0)
	}()
	log.Fatal(http.Serve(listener, handler))
}

// overTLS returns the listener with TLS, and the SHA-1 of its certificate.
func overTLS(l net.Listener) (net.Listener, string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, "", err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "oidc"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore:   time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, "", err
	}
	sum := sha1.Sum(der)
	config := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	return tls.NewListener(l, config), hex.EncodeToString(sum[:]), nil
}

// users implements storage.UserStore.
type users map[string]*storage.User

func (u users) ExampleClientID() string { return "" }

func (u users) GetUserByID(id string) *storage.User { return u[id] }

func (u users) GetUserByUsername(name string) *storage.User {
	for _, one := range u {
		if one.Username == name {
			return one
		}
	}
	return nil
}

// store adds groups to what the example's knows of people.
type store struct {
	*storage.Storage
	inToken bool
}

func (s *store) SetUserinfoFromRequest(
	ctx context.Context, info *oidc.UserInfo, r op.IDTokenRequest, scopes []string,
) error {
	if s.inToken {
		info.AppendClaims("groups", groups[r.GetSubject()])
	}
	return s.Storage.SetUserinfoFromRequest(ctx, info, r, scopes)
}

func (s *store) SetUserinfoFromToken(ctx context.Context, info *oidc.UserInfo, tokenID, subject, origin string) error {
	info.AppendClaims("groups", groups[subject])
	return s.Storage.SetUserinfoFromToken(ctx, info, tokenID, subject, origin)
}

func (s *store) GetClientByClientID(ctx context.Context, id string) (op.Client, error) {
	c, err := s.Storage.GetClientByClientID(ctx, id)
	if err != nil {
		return nil, err
	}
	return client{c, s.inToken}, nil
}

// client says where claims are.
type client struct {
	op.Client
	inToken bool
}

func (c client) IDTokenUserinfoClaimsAssertion() bool { return c.inToken }
