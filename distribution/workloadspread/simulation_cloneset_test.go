// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
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
		Start:    startCloneSets(bug),
		Act:      func(u *simulation.User, r *rand.Rand) { u.Edit(simulation.AnyEdit(r, cloneSetEdits)) },
		Push: func(u *simulation.User) { // a rollout of all pods
			u.Edit(`{"spec":{"replicas":6,"template":{"spec":{"containers":[{"name":"main","image":"nginx:9"}]}},
				"updateStrategy":{"type":"ReCreate","partition":0,"paused":false,"maxUnavailable":3}}}`)
		},
		Judge: simulation.Unjudged,
	}
}

func startCloneSets(bug *bug) func(*simulation.Process) (simulation.Controller, error) {
	of := fixture.Package[cloneset.Options, cloneset.Snapshot, cloneset.Plan]{NewReconciler: cloneset.NewReconciler,
		Acts: func(p *cloneset.Plan) bool { return scenario.Acts(&p.Plan) || p.Status != nil }}
	return planted.Start(of, simulation.Spoil[cloneset.Options, cloneset.Reconciler]{}, func(p *simulation.Process) (o cloneset.Options, err error) {
		o.NoNodes, o.Reader = true, planted.Read(p, cloneset.ResourceCloneSets, caches.Pods, caches.Claims, caches.Revisions)
		placing, err := newPlacing(p, ownReservedFor, bug)
		if err != nil {
			return o, err
		}
		o.Placement = inTurn{placing}
		if o.Kubernetes, err = p.Kubernetes(); err == nil {
			o.Workloads, err = workloadsclient.NewForConfig(p.Config)
		}
		return o, err
	})
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
		Replicas:       new(1 + r.Int32N(6)),
		Selector:       &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		Template:       webTemplate(),
		UpdateStrategy: workloadsv1alpha1.CloneSetUpdateStrategy{MaxUnavailable: new(intstr.FromInt32(3)), MaxSurge: new(intstr.FromInt32(r.Int32N(2)))},
	}}
	for range r.IntN(3) {
		simulation.Merge(set, simulation.AnyEdit(r, cloneSetEdits))
	}
	return set
}

// cloneSetEdits are what users change about a CloneSet.
var cloneSetEdits = simulation.ReadEdits("cloneSetEdits")
