package launchpriority

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright/internal/apply"
)

// Reconciler makes passes over pods: it observes, plans, and carries the plan
// out. It is safe for use by several goroutines, as long as one pod is
// reconciled by one of them at a time.
type Reconciler struct {
	configMaps typedcorev1.ConfigMapsGetter
	reader     Reader
	recorder   record.EventRecorder
	creations  apply.Creations
}

// NewReconciler returns a Reconciler for use in another framework: its passes
// are started by the caller, and it reads what Options.Reader returns. For a
// controller that runs by itself, see New.
//
// A pass is due when a pod appears, and when the readiness of its containers or
// the reason for which one of them waits has changed.
func NewReconciler(o Options) (*Reconciler, error) {
	if o.Reader == nil {
		return nil, errors.New("launchpriority: Options.Reader is nil: a Reconciler reads the caller's cache through it; New makes a controller with a cache of its own")
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	return &Reconciler{configMaps: o.Kubernetes.CoreV1(), reader: o.Reader, recorder: o.Recorder}, nil
}

// Reconcile makes one pass over a pod. It asks for another one after a time (0:
// only when something changes), or returns an error and wants to be called
// again after a back-off.
func (r *Reconciler) Reconcile(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error) {
	s, err := r.observe(ctx, key)
	if err != nil {
		return 0, err
	}
	if s == nil {
		r.creations.Forget(key)
		return 0, nil
	}
	return r.apply(ctx, s, NewPlan(s))
}

// Plan returns what the next pass over a pod would do, without doing it; nil
// when there is no such pod, or none of its containers waits for another. It
// reads the pod's ConfigMap.
func (r *Reconciler) Plan(ctx context.Context, key types.NamespacedName) (*Plan, error) {
	s, err := r.observe(ctx, key)
	if s == nil || err != nil {
		return nil, err
	}
	return NewPlan(s), nil
}
