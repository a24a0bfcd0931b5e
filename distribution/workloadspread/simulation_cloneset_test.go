// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/scenario"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
	workloadsclient "github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/cloneset"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

// cloneSetBeside is what a simulation needs to know of the CloneSet that is spread.
func cloneSetBeside(bug *bug) *simulation.Subject {
	return &simulation.Subject{
		Resource: others[0],
		Empty:    func() simulation.Object { return &workloadsv1alpha1.CloneSet{} },
		Create:   anyCloneSet,
		Start:    func(p *simulation.Process) (simulation.Controller, error) { return startCloneSet(p, bug) },
		Act:      func(u *simulation.User, r *rand.Rand) { u.Edit(simulation.AnyEdit(r, cloneSetEdits)) },
		Push: func(u *simulation.User) { // a rollout of all pods
			u.Edit(`{"spec":{"replicas":6,"template":{"spec":{"containers":[{"name":"main","image":"nginx:9"}]}},
				"updateStrategy":{"type":"ReCreate","partition":0,"paused":false,"maxUnavailable":3}}}`)
		},
		Judge: simulation.Unjudged,
	}
}

func startCloneSet(p *simulation.Process, bug *bug) (simulation.Controller, error) {
	o := cloneset.Options{NoNodes: true}
	o.Reader = planted.Read(p, cloneset.ResourceCloneSets, caches.Pods, caches.Claims, caches.Revisions)
	placing, err := newPlacing(p, ownReservedFor, bug)
	if err == nil {
		o.Placement = inTurn{placing}
		o.Kubernetes, err = p.Kubernetes()
	}
	if err == nil {
		o.Workloads, err = workloadsclient.NewForConfig(p.Config)
	}
	if err != nil {
		return simulation.Controller{}, err
	}
	r, err := cloneset.NewReconciler(o)
	if err != nil {
		return simulation.Controller{}, err
	}
	return simulation.Controller{Reconcile: r.Reconcile, Unfinished: func() (string, error) {
		plan, err := r.Plan(context.Background(), simulation.Web)
		if plan == nil || err != nil || !scenario.Acts(&plan.Plan) && plan.Status == nil {
			return "", err
		}
		return fmt.Sprint(plan), nil
	}}, nil
}

// inTurn places pods that are created at once one after the other, in an order that depends on their names alone.
type inTurn struct{ *placing }

func (p inTurn) PlacePod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	hash := fnv.New32a()
	hash.Write([]byte(pod.Name))
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(time.Duration(1 + hash.Sum32()%1_000_000)): // of virtual time
	}
	placed, err := p.Placer.PlacePod(ctx, pod)
	if err == nil {
		p.lose(pod, placed)
		p.judged(pod, placed)
	}
	return placed, err
}

// anyCloneSet is the CloneSet of a seed.
func anyCloneSet(r *rand.Rand) simulation.Object {
	set := &workloadsv1alpha1.CloneSet{Spec: workloadsv1alpha1.CloneSetSpec{
		Replicas: new(1 + r.Int32N(6)),
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}},
		},
		UpdateStrategy: workloadsv1alpha1.CloneSetUpdateStrategy{MaxUnavailable: new(intstr.FromInt32(3)), MaxSurge: new(intstr.FromInt32(r.Int32N(2)))},
	}}
	for range r.IntN(3) {
		simulation.Merge(set, simulation.AnyEdit(r, cloneSetEdits))
	}
	return set
}

// cloneSetEdits are what users change about a CloneSet.
var cloneSetEdits = simulation.ReadEdits("cloneSetEdits")
