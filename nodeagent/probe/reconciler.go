// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/nodeagent"
)

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	lifecycle client.Interface
	runtime   *nodeagent.Runtime
	reader    podwright.Reader
	clock     clock.WithTicker
	recorder  record.EventRecorder
	limits    Limits
	began     time.Time
	// nodeAddress tells the address of the node; nil for what the runtime says, or podnet.NodeAddress.
	nodeAddress func() (string, error)

	writer apply.Writer // remembers writes
	runs   *runs

	lock     sync.Mutex
	written  time.Time // when the status was last written, or that was tried
	failures int       // of the last writes in a row
}

// kind describes NodePodProbes to the shell.
func (o *Options) kind() controller.Definition[Snapshot, Plan] {
	if o.ProbeMetrics == nil {
		o.ProbeMetrics = noMetrics{}
	}
	r := &reconciler{
		lifecycle: o.Lifecycle, runtime: o.Runtime, reader: o.Reader, clock: o.Clock, recorder: o.Recorder, limits: o.Limits, began: o.Clock.Now(),
	}
	r.runs = &runs{run: r.run, wake: o.Wake, clock: o.Clock, probed: o.ProbeMetrics.Probed, of: map[ID]*known{}}
	return controller.Definition[Snapshot, Plan]{
		Name: "pod_probe", Self: r, OnNode: true, RetryWhenDue: true, FirstRetry: firstBackOff, LastRetry: lastBackOff, Settle: settleTime, Wake: &r.runs.wake,
		Observe: r.observe, Plan: NewPlan, Apply: r.apply, Writer: &r.writer,
		Run: func(ctx context.Context, run func(context.Context) error) error {
			defer r.runs.close()
			return run(ctx)
		},
	}
}

// observe reads what a plan depends on.
func (r *reconciler) observe(_ context.Context, key types.NamespacedName) (*Snapshot, error) {
	n, err := r.nodePodProbe(key.Name)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{key: key, NodePodProbe: n, Limits: r.limits, Began: r.began, Now: r.clock.Now()}
	r.runs.fill(s)
	return s, nil
}
