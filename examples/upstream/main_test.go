package upstream

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/examples/cluster"
	"github.com/podwright/podwright/examples/testbed"
)

// bed is what all tests share.
var bed *testbed.Testbed

func TestMain(m *testing.M) {
	options := testbed.Options{StartDelay: 100 * time.Millisecond, Parallel: 40}
	testbed.Main(m, options, func(ctx context.Context, b *testbed.Testbed) error {
		bed = b
		if err := webhooksAreCalled(ctx); err != nil {
			return err
		}
		// The garbage collector looks for kinds that are new when it starts, and then every 30 seconds.
		return b.Control.Restart(ctx, cluster.ControllerManager)
	})
}

// webhooksAreCalled waits until the API server has heard of our StatefulSets and of their webhooks.
func webhooksAreCalled(ctx context.Context) error {
	return testbed.Repeat(ctx, "the webhooks of StatefulSets to be called", func() error {
		set, err := podwright.render()
		if err != nil {
			return err
		}
		set, err = podwright.sets("default").Create(ctx, set, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return err
		}
		if _, found, _ := unstructured.NestedInt64(set.Object, "spec", "revisionHistoryLimit"); !found {
			return fmt.Errorf("a StatefulSet without defaults: %v", set.Object["spec"])
		}
		return nil
	})
}
