package nodeimage

import (
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes/fake"

	distributionfake "github.com/podwright/podwright/distribution/client/fake"
)

func TestNewRefuses(t *testing.T) {
	good := Options{Distribution: distributionfake.NewClient(), Kubernetes: fake.NewClientset()}
	for name, test := range map[string]struct {
		edit func(*Options)
		want string
	}{
		"no client of the distribution kinds": {func(o *Options) { o.Distribution = nil }, "Options.Distribution is nil"},
		"nothing to read nodes with":          {func(o *Options) { o.Kubernetes = nil }, "Options.Kubernetes is nil"},
		"a time before all time":              {func(o *Options) { o.Timing.ResponseTimeout = -1 }, "Options.Timing.ResponseTimeout is negative"},
		"less than no workers":                {func(o *Options) { o.Workers = -1 }, "Options.Workers is negative"},
	} {
		t.Run(name, func(t *testing.T) {
			o := good
			test.edit(&o)
			if _, err := New(o); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("New gives %v, want %q", err, test.want)
			}
		})
	}
	if _, err := New(good); err != nil {
		t.Error(err)
	}
	if _, err := NewReconciler(good); err == nil || !strings.Contains(err.Error(), "Options.Reader is nil") {
		t.Errorf("NewReconciler without a Reader gives %v", err)
	}
}
