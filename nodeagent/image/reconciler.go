// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/nodeagent"
)

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	distribution client.Interface
	runtime      *nodeagent.Runtime
	reader       podwright.Reader
	clock        clock.WithTicker
	recorder     record.EventRecorder
	concurrency  int
	limits       Limits
	filter       Filter
	credentials  *keyring

	writer apply.Writer // remembers writes
	pulls  *pulls

	lock    sync.Mutex
	written time.Time // when the status was last written
}

// kind describes NodeImages to the shell.
func (o *Options) kind() controller.Definition[Snapshot, Plan] {
	if o.Concurrency == 0 {
		o.Concurrency = defaultConcurrency
	}
	r := &reconciler{
		distribution: o.Distribution, runtime: o.Runtime, reader: o.Reader, clock: o.Clock,
		recorder: o.Recorder, concurrency: o.Concurrency, limits: o.Limits, filter: o.Filter, credentials: newKeyring(o),
	}
	r.pulls = &pulls{attempt: r.attempt, wake: o.Wake, clock: o.Clock, of: map[Task]*pull{}}
	return controller.Definition[Snapshot, Plan]{
		Name: "image_puller", Self: r, OnNode: true, FirstRetry: firstBackOff, LastRetry: lastBackOff, Settle: settleTime, Wake: &r.pulls.wake,
		Observe: r.observe, Plan: NewPlan, Apply: r.apply, Writer: &r.writer,
		Run: func(ctx context.Context, run func(context.Context) error) error {
			defer r.pulls.close()
			return run(ctx)
		},
	}
}

// observe reads what a plan depends on. It asks for the images that the node has if the plan depends on them. A runtime
// that does not answer stops no pull from being reported: the attempt waits for it.
func (r *reconciler) observe(ctx context.Context, key types.NamespacedName) (*Snapshot, error) {
	n, err := r.nodeImage(key.Name)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{key: key, NodeImage: n, Pulls: r.pulls.list(), Concurrency: r.concurrency, Limits: r.limits, Filter: r.filter, Now: r.clock.Now()}
	if !NewPlan(s).ListImages {
		return s, nil
	}
	if s.Images, err = r.runtime.Images(ctx); err != nil {
		klog.FromContext(ctx).Error(err, "It is not known which images the node has: all are pulled")
	}
	if s.Images == nil {
		s.Images = []*criv1.Image{}
	}
	return s, nil
}
