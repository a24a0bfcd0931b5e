// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/podstate"
)

// How long Mutate waits for caches that seem to be behind, and how often it looks. (WS-9)
const (
	patience  = 500 * time.Millisecond
	lookAgain = 10 * time.Millisecond
)

// ownReservedFor is how long a pod counts that PlacePod has placed and no cache shows. (WS-25)
const ownReservedFor = 5 * time.Second

// Placer gives pods that are about to be created their subset, in a webhook or in the controller that
// creates them. NewPlacer makes one. It remembers which pod it has sent where until its caches show them, for 30 seconds at most.
// What Mutate decides it writes into the status of the WorkloadSpread first, so that several replicas of a webhook keep the limits
// together, see Options.Alone. PlacePod writes nothing. (WS-7.2)
//
// Until its caches are filled its methods wait, as long as the request may take. A Placer is a podwebhook.Step, and Mutate the
// step of podwebhook.Webhook: Spread. PlacePod is for workloads that place their pods themselves, as podwright's do. Both
// together do no more than one of them.
type Placer struct {
	options Options
	spreads *controller.Sources
	first   chan struct{}       // closed once there is a WorkloadSpread
	others  *controller.Sources // what else is read, from then on
	custom  *admission.Known[*customCaches]
	changed atomic.Pointer[func()] // what OnMatchChange was given last
	// findCustom finds the kinds of the white list.
	findCustom func(context.Context, *Options) ([]CustomKind, error)
	reserved   reservations
	newKey     func() string // for a pod that has no name yet

	fillSpreads, fillOthers *controller.Filling
}

// NewPlacer returns a Placer that is not yet running. Of the options it uses the clients, the informers
// but that of nodes, the namespace, CacheSyncTimeout, PlacedByWorkloads and the clock. It adds indexes and a handler to the informers, so they
// must not have been started before.
func NewPlacer(o Options) (*Placer, error) {
	o.NoNodes = true
	checks := controller.Check("workloadspread")
	if o.check(checks); checks.Err() != nil {
		return nil, checks.Err()
	}
	reads := o.reads()
	for i := range reads {
		if reads[i].Resource == resourcePods {
			reads[i].Trim = keepPlaced
		}
	}
	spreads, err := controller.Open("workloadspread", reads[:1])
	if err != nil {
		return nil, err
	}
	others, err := controller.Open("workloadspread", reads[1:])
	if err != nil {
		return nil, err
	}
	o.Reader = controller.Caches(reads)
	p := newPlacer(o)
	p.spreads, p.others = spreads, others
	p.fillSpreads, p.fillOthers = spreads.Filling(placerName, o.CacheSyncTimeout), others.Filling(placerName, o.CacheSyncTimeout)
	first := sync.OnceFunc(func() { close(p.first) })
	_, err = o.Pods.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: p.podAdded})
	_, err2 := o.Spreads.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { first() },
		DeleteFunc: func(object any) {
			if key, err := cache.DeletionHandlingObjectToName(object); err == nil {
				p.reserved.forget(key.AsNamespacedName())
			}
		},
		UpdateFunc: func(_, object any) {
			if ws, ok := object.(*v1alpha1.WorkloadSpread); ok {
				p.reserved.absorb(ws, p.options.Clock.Now())
			}
		},
	})
	return p, errors.Join(err, err2)
}

// keepPlaced is the transform of a cache of pods that only a Placer reads. Every replica of a webhook has one, if there are WorkloadSpreads.
func keepPlaced(object any) (any, error) {
	if pod, ok := object.(*corev1.Pod); ok {
		return caches.Outline(pod, v1alpha1.MatchedWorkloadSpreadAnnotation), nil
	}
	return object, nil
}

// placerName stands in logs and errors.
const placerName = "workloadspread-placer"

// newPlacer returns a Placer that has no informers to wait for.
func newPlacer(o Options) *Placer {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	o.Alone = o.Alone || o.Distribution == nil
	custom := admission.NewKnown[*customCaches]("which kinds the white list has")
	if o.ConfigNamespace == "" {
		custom.Missing() // it is known already
	}
	return &Placer{options: o, spreads: &controller.Sources{}, others: &controller.Sources{}, first: make(chan struct{}), custom: custom, findCustom: findCustom,
		newKey: func() string { return string(uuid.NewUUID()) }}
}

// podAdded takes note of a pod that is seen for the first time.
func (p *Placer) podAdded(object any) {
	if pod, ok := object.(*corev1.Pod); ok {
		p.reserved.release(pod, p.options.Clock.Now())
	}
}

// Rules returns what placerRules does for its options.
func (p *Placer) Rules() []rbacv1.PolicyRule { return placerRules(p.options) }

// placerRules returns the RBAC rules that a Placer with these options needs, and none beyond.
func placerRules(o Options) []rbacv1.PolicyRule {
	o.NoNodes, o.Recorder, o.Recorders = true, nil, nil
	var rules []rbacv1.PolicyRule
	for _, rule := range Rules(o) {
		switch resource := rule.Resources[0]; {
		case resource == "workloadspreads/status" && o.Alone:
			continue
		case resource == "workloadspreads" && !o.Alone, resource == "workloadspreads/status": // reservations are written, and read again after a conflict
		default:
			rule.Verbs = []string{"list", "watch"}
		}
		rules = append(rules, rule)
	}
	return rules
}

// Run runs the informers that NewPlacer made until the context is done, and waits for them. It runs that of
// WorkloadSpreads, and all others, of pods above all, once there is a WorkloadSpread. What it returns, and when, is as with
// podwright.Controller. It can be called once, and need not be called if all of them are shared.
func (p *Placer) Run(ctx context.Context) error {
	if p.options.ConfigNamespace == "" {
		return p.fillSpreads.RunAfter(ctx, p.first, p.fillOthers.Fill)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		defer cancel()
		ended <- p.runCustom(ctx)
	}()
	err := p.fillSpreads.RunAfter(ctx, p.first, p.fillOthers.Fill)
	cancel()
	return errors.Join(err, <-ended)
}

// HasSynced tells whether the caches have been filled that are read now: that of WorkloadSpreads and, if there is one, all others.
func (p *Placer) HasSynced() bool {
	select {
	case <-p.first:
		return p.fillSpreads.HasSynced() && p.fillOthers.HasSynced() && p.custom.IsKnown()
	default:
		return p.fillSpreads.HasSynced()
	}
}

// Mutate gives a pod its subset. It is a step of podwebhook.Webhook: Spread. An error refuses the pod, with the code
// 500. Dry runs leave pods as they are, and so does Options.PlacedByWorkloads those whose controllers are of the group
// apps.kruise.io. (WS-26)
func (p *Placer) Mutate(ctx context.Context, request *admissionv1.AdmissionRequest, pod *corev1.Pod) error {
	if request.Operation != admissionv1.Create || request.DryRun != nil && *request.DryRun {
		return nil
	}
	if ref := metav1.GetControllerOfNoCopy(pod); ref != nil && p.options.PlacedByWorkloads && groupKind(ref).Group == v1alpha1.GroupName {
		return nil
	}
	given := pod.Namespace
	pod.Namespace = request.Namespace
	placed, err := p.place(ctx, pod, patience)
	pod.Namespace = given
	if err != nil {
		return apierrors.NewInternalError(fmt.Errorf("place the pod: %w", err))
	}
	if placed != pod {
		*pod = *placed
		pod.Namespace = given
	}
	return nil
}

// PlacePod returns a pod that is about to be created as its subset has it. It is a copy, or the pod itself
// if it has no subset. The pod must have a namespace. An error says that it must not be created. It is the
// workloads.Placement of controllers that see by the same informers which pods are missing, and wait until
// these show what they have created. So it does not wait for caches that are behind, and what is not seen
// soon was not created. (WS-4 to WS-11, WS-25)
func (p *Placer) PlacePod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	return p.place(ctx, pod, 0)
}

func (p *Placer) place(ctx context.Context, pod *corev1.Pod, patience time.Duration) (*corev1.Pod, error) {
	if metav1.GetControllerOfNoCopy(pod) == nil || !podstate.Active(pod) {
		return pod, nil
	}
	if there, err := p.wait(ctx, pod.Namespace); err != nil || !there {
		return pod, err
	}
	for deadline := p.options.Clock.Now().Add(patience); ; {
		last := !p.options.Clock.Now().Before(deadline)
		placed, again, err := p.try(ctx, pod, last, patience == 0)
		if err != nil || !again {
			return placed, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-p.options.Clock.After(lookAgain):
		}
	}
}

// wait waits until the caches are filled that matter, and tells whether there are WorkloadSpreads in a namespace: without
// them nothing else need be read.
func (p *Placer) wait(ctx context.Context, namespace string) (there bool, err error) {
	unfilled := errors.New("the caches are not filled yet; try again")
	if !cache.WaitForCacheSync(ctx.Done(), p.spreads.Synced()...) {
		return false, unfilled
	}
	spreads, err := p.options.spreads(namespace)
	if err != nil || len(spreads) == 0 {
		return false, err
	}
	if !cache.WaitForCacheSync(ctx.Done(), p.others.Synced()...) {
		return false, unfilled
	}
	custom, _, err := p.custom.Get(ctx)
	if err != nil || custom != nil && !cache.WaitForCacheSync(ctx.Done(), custom.synced...) {
		return false, unfilled
	}
	return true, nil
}

// try places a pod by what the caches show now; again if they seem to be behind, and it is not the last
// time. Own is for PlacePod. (WS-9)
func (p *Placer) try(ctx context.Context, pod *corev1.Pod, last, own bool) (placed *corev1.Pod, again bool, err error) {
	found, behind, err := p.find(ctx, pod, last && !own)
	if err != nil || found == nil || behind && !last {
		return pod, behind && !last, err
	}
	key := spread.ReservationKey(pod, p.newKey())
	if !own && !p.options.Alone {
		q := &question{pod: pod, found: found, last: last, key: key}
		p.ask(ctx, q)
		return q.placed, q.again, q.err
	}
	entry := p.reserved.of(cache.MetaObjectToName(found.spread).AsNamespacedName())
	entry.Lock()
	defer entry.Unlock()
	result, err := p.inject(entry, found, pod, key, nil)
	switch {
	case err != nil:
		return nil, false, err
	case result.Beyond && !last:
		return nil, true, nil
	case result.Counted:
		if own {
			result.Reservation.Expires = p.options.Clock.Now().Add(ownReservedFor)
		}
		entry.list = append(entry.list, result.Reservation)
	}
	return result.Pod, false, nil
}

// inject places a pod by what the caches show, the reservations of an entry and those made beside. The caller holds the lock of
// the entry: what is released before pods are read is among them.
func (p *Placer) inject(e *entry, found *target, pod *corev1.Pod, key string, made []spread.Reservation) (*spread.Result, error) {
	in := spread.Input{Pod: pod, Spread: found.spread, OwnerWants: found.ownerWants, Key: key, Now: p.options.Clock.Now()}
	if w := found.workload; w != nil {
		in.Workload = w.seenBy(found.spread)
		var err error
		if in.Pods, err = podsOf(p.known().Reader, pod.Namespace, w); err != nil {
			return nil, err
		}
	}
	in.Reservations = slices.Concat(e.current(in.Pods, in.Now), made)
	return spread.Inject(in)
}

// keyOf names the WorkloadSpread that a pod was placed by; false for none.
func keyOf(pod *corev1.Pod) (key types.NamespacedName, matched v1alpha1.MatchedWorkloadSpread, found bool) {
	matched, found = spread.Matched(pod)
	return types.NamespacedName{Namespace: pod.Namespace, Name: matched.Name}, matched, found
}
