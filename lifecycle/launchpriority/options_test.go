package launchpriority

import (
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes/fake"
)

func TestOptions(t *testing.T) {
	client := fake.NewClientset()
	for _, test := range []struct {
		name string
		make func() error
		want string
	}{
		{"no clientset", func() error { _, err := New(Options{}); return err }, "Options.Kubernetes is nil"},
		{"less than no workers", func() error { _, err := New(Options{Kubernetes: client, Workers: -1}); return err }, "Options.Workers is negative"},
		{"nothing to read from", func() error { _, err := NewReconciler(Options{Kubernetes: client}); return err }, "Options.Reader is nil"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := test.make(); err == nil || !strings.HasPrefix(err.Error(), "launchpriority: "+test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
	c, err := New(Options{Kubernetes: client})
	if err != nil || c.loop.Workers != 4 {
		t.Errorf("error %v, controller %+v, want 4 workers", err, c)
	}
}
