package cloudwatch

import (
	"context"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
)

const (
	// maxDashboards is the maximum number of dashboards of an account.
	maxDashboards  = 500
	dashboardsPage = 1000
)

// dashboards has the operations on dashboards.
type dashboards struct{ *core }

func (s dashboards) register(wire *protocol.Service) {
	protocol.Register(wire, "DeleteDashboards", s.deleteDashboards, protocol.Control, protocol.EmptyResult)
	protocol.Register(wire, "GetDashboard", s.getDashboard)
	protocol.Register(wire, "ListDashboards", s.listDashboards)
	protocol.Register(wire, "PutDashboard", s.putDashboard, protocol.Control)
}

type putDashboardInput struct {
	DashboardName *string       `max:"255"`
	DashboardBody *string       `max:"256K"`
	Tags          []service.Tag `max:"50"   wrap:"member"`
}

type putDashboardOutput struct {
	DashboardValidationMessages []DashboardValidationMessage `wrap:"member" json:",always"`
}

// DashboardValidationMessage is a remark about the text of a dashboard. Stored dashboards have none: the contents of
// widgets are for the programs that draw them.
type DashboardValidationMessage struct {
	DataPath string
	Message  string
}

// dashboard returns the name of a request's dashboard, if the caller may take the action on it.
func (s dashboards) dashboard(c *protocol.Call, action string, name *string) (string, error) {
	if name == nil || *name == "" {
		return "", errMissing("DashboardName")
	}
	for _, r := range *name {
		if letter := r|0x20 >= 'a' && r|0x20 <= 'z'; !letter && (r < '0' || r > '9') && r != '-' && r != '_' {
			return "", errValue("The value for field DashboardName contains invalid characters. " +
				"It can only contain alphanumerics, dash (-) and underscore (_).\n")
		}
	}
	c.Notes.Set("dashboard", *name)
	return *name, s.allow(c, action, service.Subject{
		Resource: service.ARN(monitor.DashboardARN(service.Caller(c).Account, *name)),
	})
}

func (s dashboards) putDashboard(
	ctx context.Context, c *protocol.Call, in *putDashboardInput,
) (*putDashboardOutput, error) {
	name, err := s.dashboard(c, "PutDashboard", in.DashboardName)
	if err != nil {
		return nil, err
	}
	tags, err := checkTags(in.Tags)
	if err != nil {
		return nil, err
	}
	if in.DashboardBody == nil {
		return nil, errMissing("DashboardBody")
	}
	if err := checkBody([]byte(*in.DashboardBody)); err != nil {
		return nil, err
	}
	account := service.Caller(c).Account
	return nil, s.change(ctx, true, func(tx *monitor.Tx) error {
		d := &monitor.Dashboard{Account: account, Name: name, Modified: s.now().UTC().Truncate(time.Second), Tags: tags}
		if was := s.monitor.Dashboard(account, name); was != nil {
			d.Tags = was.Tags
		} else if len(s.monitor.Dashboards(account, "")) >= maxDashboards {
			return errValue("An account can have at most %d dashboards.", maxDashboards)
		}
		return tx.PutDashboard(d, *in.DashboardBody)
	})
}

type getDashboardInput struct {
	DashboardName *string `max:"255"`
}

type getDashboardOutput struct {
	DashboardArn  string
	DashboardBody string
	DashboardName string
}

func (s dashboards) getDashboard(
	_ context.Context, c *protocol.Call, in *getDashboardInput,
) (*getDashboardOutput, error) {
	name, err := s.dashboard(c, "GetDashboard", in.DashboardName)
	if err != nil {
		return nil, err
	}
	d := s.monitor.Dashboard(service.Caller(c).Account, name)
	if d == nil {
		return nil, errNoDashboard(name)
	}
	body, err := s.monitor.Body(d)
	if err != nil {
		return nil, failure(err)
	}
	return &getDashboardOutput{d.ARN(), body, d.Name}, nil
}

type listDashboardsInput struct {
	DashboardNamePrefix *string `max:"255"`
	NextToken           *string `max:"8K"`
}

type listDashboardsOutput struct {
	DashboardEntries []DashboardEntry `wrap:"member" json:",always"`
	NextToken        string           `              json:",omitempty"`
}

// DashboardEntry is a dashboard in a list.
type DashboardEntry struct {
	DashboardName string
	DashboardArn  string
	LastModified  time.Time
	Size          int64
}

func (s dashboards) listDashboards(
	_ context.Context, c *protocol.Call, in *listDashboardsInput,
) (*listDashboardsOutput, error) {
	if err := s.allow(c, "ListDashboards", service.Subject{}); err != nil {
		return nil, err
	}
	all := s.monitor.Dashboards(service.Caller(c).Account, text(in.DashboardNamePrefix))
	p, err := pagedValue(
		service.Paginate(
			all, func(d *monitor.Dashboard) string { return d.Name }, text(in.NextToken), "", dashboardsPage,
		),
	)
	if err != nil {
		return nil, err
	}
	entry := func(d *monitor.Dashboard) DashboardEntry {
		return DashboardEntry{d.Name, d.ARN(), d.Modified, int64(d.Size)}
	}
	return &listDashboardsOutput{NextToken: p.Next, DashboardEntries: service.Convert(p.Items, entry)}, nil
}

type deleteDashboardsInput struct {
	DashboardNames []string `wrap:"member" max:"100,255"`
}

// deleteDashboards deletes the named dashboards that exist, and then names one that does not.
func (s dashboards) deleteDashboards(
	ctx context.Context, c *protocol.Call, in *deleteDashboardsInput,
) (*service.Empty, error) {
	if len(in.DashboardNames) == 0 {
		return nil, errMissing("DashboardNames")
	}
	for _, n := range in.DashboardNames {
		if _, err := s.dashboard(c, "DeleteDashboards", &n); err != nil {
			return nil, err
		}
	}
	account := service.Caller(c).Account
	change := func(ctx context.Context, f func(*monitor.Tx) error) error { return s.change(ctx, false, f) }
	missing, err := control.Decide(ctx, change, func(tx *monitor.Tx) (missing string, _ error) {
		for _, n := range slices.Backward(in.DashboardNames) {
			if d := s.monitor.Dashboard(account, n); d != nil {
				tx.DeleteDashboard(d)
			} else {
				missing = n
			}
		}
		return missing, nil
	})
	if err == nil && missing != "" {
		err = errNoDashboard(missing)
	}
	return nil, err
}
