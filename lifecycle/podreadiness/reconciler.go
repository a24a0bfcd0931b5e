package podreadiness

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/internal/apiwriter"
)

// Reader reads a cache of pods. What it returns is shared with the cache: a
// Reconciler never changes it. Its method is called by several goroutines.
//
// New makes a Reader over an informer. An implementation of one's own lets a
// Reconciler run on the cache of another framework.
type Reader interface {
	// Pod returns a pod, or an error for which apierrors.IsNotFound holds.
	Pod(namespace, name string) (*corev1.Pod, error)
}

// Reconciler makes passes over pods: it observes, plans, and carries the plan
// out. It is safe for use by several goroutines, as long as one pod is
// reconciled by one of them at a time. It remembers nothing between passes.
type Reconciler struct {
	pods   apiwriter.Resource
	reader Reader
	clock  clock.PassiveClock
}

// NewReconciler returns a Reconciler for use in another framework: its passes
// are started by the caller, and it reads what Options.Reader returns. For a
// controller that runs by itself, see New.
//
// A pass is due when a pod appears, and when its condition disappears.
func NewReconciler(o Options) (*Reconciler, error) {
	if o.Reader == nil {
		return nil, errors.New("podreadiness: Options.Reader is nil: a Reconciler reads the caller's cache through it; New makes a controller with a cache of its own")
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return &Reconciler{
		pods:   apiwriter.Resource{Client: o.Kubernetes.CoreV1().RESTClient(), Name: "pods"},
		reader: o.Reader, clock: o.Clock,
	}, nil
}

// Reconcile makes one pass over a pod. It asks for another one after a time (0:
// only when something changes), or returns an error and wants to be called
// again after a back-off.
func (r *Reconciler) Reconcile(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error) {
	s, err := r.observe(key)
	if s == nil || err != nil {
		return 0, err
	}
	plan := NewPlan(s)
	if plan.Patch == nil {
		return plan.RequeueAfter, nil
	}
	changes, err := plan.Patch.Writes(s.Pod)
	if err != nil {
		return 0, err
	}
	for _, w := range changes {
		_, err := r.pods.Patch(ctx, s.Pod, w.Subresource, types.StrategicMergePatchType, w.Data)
		if apierrors.IsNotFound(err) {
			return 0, nil
		}
		if err != nil {
			return 0, fmt.Errorf("patch the status of pod %s: %w", key, err)
		}
	}
	return plan.RequeueAfter, nil
}

// Plan returns what the next pass over a pod would do, without doing it; nil
// when there is no such pod.
func (r *Reconciler) Plan(key types.NamespacedName) (*Plan, error) {
	s, err := r.observe(key)
	if s == nil || err != nil {
		return nil, err
	}
	return NewPlan(s), nil
}

// observe returns nil when there is no such pod.
func (r *Reconciler) observe(key types.NamespacedName) (*Snapshot, error) {
	pod, err := r.reader.Pod(key.Namespace, key.Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read pod %s: %w", key, err)
	}
	return &Snapshot{Pod: pod, Now: r.clock.Now()}, nil
}
