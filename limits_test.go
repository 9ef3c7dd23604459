package sluice_test

import (
	"go/ast"
	"path"
	"reflect"
	"testing"

	awscloudwatch "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	awsiam "github.com/aws/aws-sdk-go-v2/service/iam"
	awssns "github.com/aws/aws-sdk-go-v2/service/sns"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	awssts "github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/sluicemq/sluice/internal/api/admin"
	"github.com/sluicemq/sluice/internal/api/cloudtrail"
	"github.com/sluicemq/sluice/internal/api/cloudwatch"
	"github.com/sluicemq/sluice/internal/api/iam"
	"github.com/sluicemq/sluice/internal/api/inspect"
	"github.com/sluicemq/sluice/internal/api/signin"
	"github.com/sluicemq/sluice/internal/api/sns"
	"github.com/sluicemq/sluice/internal/api/sqs"
	"github.com/sluicemq/sluice/internal/api/sts"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store/storetest"
)

// services returns the wire form of every service.
var services = map[string]func(*testing.T) *protocol.Service{
	"internal/api/cloudwatch": func(*testing.T) *protocol.Service { return cloudwatch.New(cloudwatch.Options{}) },
	"internal/api/admin":      func(*testing.T) *protocol.Service { return admin.New(admin.Options{}) },
	"internal/api/inspect": func(*testing.T) *protocol.Service {
		wire := protocol.NewService(protocol.Service{Name: "sluice", Target: "Sluice"})
		inspect.Register(wire, inspect.Options{})
		return wire
	},
	"internal/api/signin": func(*testing.T) *protocol.Service {
		wire := protocol.NewService(protocol.Service{Name: "sluice", Target: "Sluice"})
		signin.New(signin.Options{}).Register(wire, nil)
		return wire
	},
	"internal/api/cloudtrail": func(*testing.T) *protocol.Service { return cloudtrail.New(cloudtrail.Options{}) },
	"internal/api/iam":        func(*testing.T) *protocol.Service { return iam.New(iam.Options{}) },
	"internal/api/sns": func(*testing.T) *protocol.Service {
		_, wire := sns.New(sns.Options{})
		return wire
	},
	"internal/api/sqs": func(t *testing.T) *protocol.Service { return sqs.New(sqs.Options{Catalog: emptyCatalog(t)}) },
	"internal/api/sts": func(*testing.T) *protocol.Service { return sts.New(sts.Options{}) },
}

// Every input field of every operation that a client could make arbitrarily long has a limit. protocol.Register panics
// over one without; this test shows it without starting a server.
func TestEveryInputHasLimits(t *testing.T) {
	for dir, build := range services {
		func() {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("%s: %v", dir, p)
				}
			}()
			if len(build(t).Operations()) == 0 {
				t.Errorf("%s has no operations", dir)
			}
		}()
	}
	for dir, files := range sources(t) {
		if path.Dir(dir) == "internal/api" && services[dir] == nil && makesService(files) {
			t.Errorf("%s registers operations: add it to the services of this test", dir)
		}
	}
}

// makesService reports whether files create the wire form of a service.
func makesService(files map[string]*ast.File) bool {
	found := false
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			found = found || ok && sel.Sel.Name == "NewService"
			return !found
		})
	}
	return found
}

func emptyCatalog(t *testing.T) *catalog.Catalog {
	t.Helper()
	records := storetest.Memory(t)
	c := control.New(control.Options{Store: records})
	if err := c.Change(t.Context(), catalog.Initialise); err != nil {
		t.Fatal(err)
	}
	cat, err := catalog.Open(catalog.Options{Control: c})
	if err != nil {
		t.Fatal(err)
	}
	return cat
}

// Every operation of a service in AWS's SDK is supported, or declared as unsupported.
func TestEveryOperationOfAWSIsKnown(t *testing.T) {
	for dir, client := range map[string]reflect.Type{
		"internal/api/cloudwatch": reflect.TypeFor[*awscloudwatch.Client](),
		"internal/api/iam":        reflect.TypeFor[*awsiam.Client](),
		"internal/api/sns":        reflect.TypeFor[*awssns.Client](),
		"internal/api/sqs":        reflect.TypeFor[*awssqs.Client](),
		"internal/api/sts":        reflect.TypeFor[*awssts.Client](),
	} {
		wire := services[dir](t)
		for i := range client.NumMethod() {
			if name := client.Method(i).Name; name != "Options" && !wire.Knows(name) {
				t.Errorf("%s neither has %s nor declares it as unsupported", dir, name)
			}
		}
	}
}
