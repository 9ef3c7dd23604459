// Command oidc is a real OpenID Connect provider for tests: the server of github.com/zitadel/oidc, which is certified, with
// its own example's storage and page, and two people who are in groups. It prints its issuer and runs until its standard
// input ends.
//
//	oidc -redirect URL [-claims]
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// Who can sign in; the tests know them.
const (
	clientID = "sluice"
	secret   = "a secret of the client"
	password = "a password of the person"
)

var people = users{
	"248289761001": {ID: "248289761001", Username: "ann", Password: password, Email: "ann@example.com", EmailVerified: true},
	"248289761002": {ID: "248289761002", Username: "bob", Password: password, Email: "bob@example.com", EmailVerified: true},
	"248289761003": {ID: "248289761003", Username: "eve", Password: password, Email: "ann@example.com"},
}

var groups = map[string][]string{"248289761001": {"staff", "admins"}, "248289761002": {"staff"}, "248289761003": {"admins"}}

func main() {
	redirect := flag.String("redirect", "", "where browsers are sent back to")
	inToken := flag.Bool("claims", false, "have all claims in the ID token, too, and not in UserInfo only")
	flag.Parse()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	issuer := "http://" + listener.Addr().String()
	clients := map[string]*storage.Client{clientID: storage.WebClient(clientID, secret, *redirect)}
	s := &store{storage.NewStorageWithClients(people, clients), *inToken}
	handler := exampleop.SetupServer(issuer, s, slog.New(slog.DiscardHandler), false)
	fmt.Println(issuer)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // until the program that started it is gone
		os.Exit(0)
	}()
	log.Fatal(http.Serve(listener, handler))
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

func (s *store) SetUserinfoFromRequest(ctx context.Context, info *oidc.UserInfo, r op.IDTokenRequest, scopes []string) error {
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
