package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/examples/cluster"
	"github.com/podwright/podwright/examples/testbed"
	"github.com/podwright/podwright/workloads/client"
)

// What all tests share.
var (
	bed       *testbed.Testbed
	control   *cluster.Cluster
	core      kubernetes.Interface
	workloads client.Interface
	untyped   dynamic.Interface
	manager   *testbed.Manager
)

func TestMain(m *testing.M) {
	testbed.Main(m, testbed.Options{Audit: true, Unused: map[string]map[string]string{testbed.ManagerProgram: unusedRights}}, func(ctx context.Context, b *testbed.Testbed) (err error) {
		bed, control, core, untyped, manager = b, b.Control, b.Core, b.Dynamic, b.Manager
		if workloads, err = client.NewForConfig(control.Config()); err != nil {
			return err
		}
		return webhooksAreCalled(ctx)
	})
}

// webhooksAreCalled waits until the API server has heard of the CRDs and of the webhooks.
func webhooksAreCalled(ctx context.Context) error {
	return testbed.Repeat(ctx, "the webhooks to be called", func() error {
		set, err := workloads.CloneSets("default").Create(ctx, cloneSet("asked", 1),
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil && set.Spec.RevisionHistoryLimit == nil {
			err = fmt.Errorf("a CloneSet without defaults: %+v", set.Spec)
		}
		return err
	})
}

// revive makes sure at the end of a test that the next one finds a manager at work.
func (s *scene[T]) revive() {
	s.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testbed.Patience)
	defer cancel()
	var err error
	if !manager.Running() {
		err = manager.Start()
	}
	if err = errors.Join(err, webhooksAreCalled(ctx)); err != nil {
		s.Errorf("the manager at the end of the test: %v", err)
	}
}
