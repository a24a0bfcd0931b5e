// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/readers"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

// TestSimulationFindsBugs plants bugs into the parts that spread pods: a few seeds must find each.
func TestSimulationFindsBugs(t *testing.T) {
	plant := simulation.Plant(t, func(b bug) *simulation.Subject { return simulated(&b) })
	plant("pods that have ended count", invariants.Status, 25, inPods(revived(corev1.PodFailed)))
	plant("pods that are being deleted count", invariants.Needless, 10, inPods(undelete))
	plant("observedGeneration is not written", invariants.Status, 0, inPlan(func(s *Snapshot, p *Plan) {
		if p.Status != nil {
			p.Status.ObservedGeneration = s.Spread.Status.ObservedGeneration
		}
	}))
	plant("pods of old ReplicaSets are not seen", invariants.Status, 0, bug{of: ofDeployment, hides: laterReplicaSets})
	plant("all subsets cost the same", invariants.Order, 0, inPlan(costing(func(cost string) bool { return cost == "200" }, "100")))
	plant("costs with percentages are not graded", invariants.Order, 17,
		inPlan(costing(func(cost string) bool { return len(cost) > len("-1000") }, "9000000")))
	plant("pods of no subset cost nothing", invariants.Order, 1, inPlan(func(_ *Snapshot, p *Plan) {
		p.Patches = slices.DeleteFunc(p.Patches, func(patch PodPatch) bool { return patch.Subset == v1alpha1.FakeSubsetName })
	}))
	plant("old revisions count as the latest one", invariants.Needless, 13, inWorkload(func(w *spread.Workload) { w.Revision = "" }))
	plant("pods of no subset are not adopted", invariants.Settled, 17, bug{controller: spoil{Options: func(o *Options) { o.NoNodes = true }}})
	plant("pods are adopted whatever their node", invariants.Placement, 13, inSpread(demandNothing))
	plant("preferred nodes do not matter", invariants.Placement, 10, inSpread(preferNothing))
	plant("pods of a subset that is gone are adopted", invariants.Placement, 1, inPlan(adoptDropped))
	plant("metadata is patched though it is to be ignored", invariants.Spec, 138, inSpread(func(ws *v1alpha1.WorkloadSpread) { ws.Annotations = nil }))
	plant("pods fail to be scheduled too early", invariants.Needless, 213, inSpread(hurry))
	plant("pods are deleted while their subset takes others", invariants.Order, 0, inPlan(func(_ *Snapshot, p *Plan) {
		if p.Computed != nil && len(p.Deletions) > 0 {
			p.Status = nil
		}
	}))
	plant("a subset stays closed", invariants.Status, 111, inPlan(stayClosed))
	plant("no look after a while", invariants.Settled, 4, inPlan(func(_ *Snapshot, p *Plan) {
		if p.Computed != nil {
			p.RequeueAfter = 0
		}
	}))
	plant("misplaced pods stay", invariants.Placement, 2, ofADeployment(inPlan(func(_ *Snapshot, p *Plan) {
		if p.Computed != nil {
			p.Deletions = slices.DeleteFunc(p.Deletions, func(d spread.Deletion) bool { return d.Why == spread.Misplaced })
		}
	})))
	plant("misplaced pods are deleted at once", invariants.Needless, 0, ofADeployment(inPods(aSecondOlder)))
	plant("a deletion hits whatever has the name", invariants.Ownership, 0, onWire(simulation.SpoilDeletions(`{}`)))
	plant("a patch hits whatever has the name", invariants.Ownership, 0, onWire(simulation.Forgetting(http.MethodPatch, "pods", "metadata", "uid")))
	plant("pods that were sent are forgotten", invariants.Placement, 1, bug{forgets: true})
	plant("pods that are gone stay reserved", invariants.Placement, 0, bug{of: ofDeployment, misses: true})
	plant("pods that have ended keep their place", invariants.Placement, 11, inPlacer(changing(revived(corev1.PodFailed))))
	plant("pods are sent to a closed subset", invariants.Placement, 0, inPlacer(changing(func(ws *v1alpha1.WorkloadSpread) { ws.Status.SubsetStatuses = nil })))
	plant("new revisions fill what old ones leave", invariants.Placement, 0, inPlacer(changing(func(set *workloadsv1alpha1.CloneSet) { set.Status.UpdateRevision = "" })))
	plant("limits are of what there is beyond", invariants.Placement, 0, inPlacer(changing(func(set *workloadsv1alpha1.CloneSet) { set.Spec.Replicas = new(ptr.Deref(set.Spec.Replicas, 1) + 1) })))
	plant("the selector of targetFilter is not read", invariants.Status, 18,
		bug{sees: changing(inFilter(func(f *v1alpha1.TargetFilter) { f.Selector = nil }))})
	plant("the paths of targetFilter are not read", invariants.Status, 0,
		bug{sees: changing(inFilter(func(f *v1alpha1.TargetFilter) { f.ReplicasPathList = nil })), controller: spoil{Often: wantTwice}})
	plant("new pods get no tolerations", invariants.Placement, 0,
		inPlacer(changing(inSubsets(func(s *v1alpha1.WorkloadSpreadSubset) { s.Tolerations = nil }))))
	plant("new pods get no patch", invariants.Placement, 0,
		inPlacer(changing(inSubsets(func(s *v1alpha1.WorkloadSpreadSubset) { s.Patch.Raw = nil }))))
	plant("new pods go anywhere", invariants.Placement, 0, inPlacer(changing(demandNothing)))
	plant("replicas do not know of each other", invariants.Placement, 1, bug{of: ofDeployment, together: true, strangers: true})
	plant("what is decided may take for ever to be written", invariants.Placement, 356, bug{of: ofDeployment, together: true, patient: true})
	plant("a webhook writes", invariants.Spec, 0, bug{of: ofDeployment, webhookWrites: true})
}

// bug is a bug of one of the parts that spread pods. Its zero value is none.
type bug struct {
	// of is the workload that is spread; nil is a CloneSet.
	of *spreadKind
	// two has two WorkloadSpreads name the same workload.
	two bool
	// together has replicas of the webhook know of each other; strangers has them not do it though they should.
	together, strangers bool
	controller          spoil
	// sees is how the controller misreads objects of its caches, placerSees how Placers do. hides and placerHides are objects that they do not see.
	sees, placerSees   func(any) any
	hides, placerHides func(any) bool
	// forgets has Placers forget to which subset they have sent pods, misses not notice those that appear.
	forgets, misses bool
	webhookWrites   bool
	// patient has webhooks wait for each answer, however long it takes.
	patient bool
	// losesTerms has new pods forget what they required of nodes before they were placed.
	losesTerms bool
}

type spoil = simulation.Spoil[Options, Reconciler]

// spreading is what is played with bugs that spread a kind of workload.
func spreading(of *spreadKind) func(bug) *simulation.Subject {
	return func(b bug) *simulation.Subject {
		b.of = of
		return simulated(&b)
	}
}

func ofADeployment(b bug) bug {
	b.of = ofDeployment
	return b
}

// inPlan plants a bug into plans, inSnapshot, inSpread, inWorkload and inPods into what they are made of, and onWire into requests.
func inPlan(change func(*Snapshot, *Plan)) bug {
	return bug{controller: planted.InPlan[Options](change)}
}

func inSnapshot(change func(*Snapshot)) bug {
	return bug{controller: planted.Misread[Options, Snapshot, Plan](change)}
}

func inSpread(change func(*v1alpha1.WorkloadSpread)) bug {
	return inSnapshot(func(s *Snapshot) { change(s.Spread) })
}

func inWorkload(change func(*spread.Workload)) bug {
	return inSnapshot(func(s *Snapshot) {
		if s.Workload != nil {
			w := *s.Workload
			change(&w)
			s.Workload = &w
		}
	})
}

func inPods(change func(*corev1.Pod)) bug { return inSnapshot(planted.EachPod[Snapshot](change)) }

func onWire(wrap func(http.RoundTripper) http.RoundTripper) bug {
	return bug{controller: simulation.OnWire[Options, Reconciler](wrap)}
}

func inPlacer(sees func(any) any) bug { return bug{placerSees: sees} }

// changing changes copies of objects of a type.
func changing[T interface{ DeepCopy() T }](change func(T)) func(any) any {
	return func(object any) any {
		if of, is := object.(T); is {
			of = of.DeepCopy()
			change(of)
			return of
		}
		return object
	}
}

// inSubsets changes each subset of a spec, and inFilter its targetFilter, if it has one.
func inSubsets(change func(*v1alpha1.WorkloadSpreadSubset)) func(*v1alpha1.WorkloadSpread) {
	return func(ws *v1alpha1.WorkloadSpread) {
		for i := range ws.Spec.Subsets {
			change(&ws.Spec.Subsets[i])
		}
	}
}

func inFilter(change func(*v1alpha1.TargetFilter)) func(*v1alpha1.WorkloadSpread) {
	return func(ws *v1alpha1.WorkloadSpread) {
		if ws.Spec.TargetFilter != nil {
			change(ws.Spec.TargetFilter)
		}
	}
}

// misread is a Reader of objects as sees returns them, without what is hidden.
func misread(r podwright.Reader, sees func(any) any, hides func(any) bool) podwright.Reader {
	if sees != nil {
		r = readers.Changing{Reader: r, Change: sees}
	}
	if hides != nil {
		r = hiding{r, hides}
	}
	return r
}

// hiding is a Reader without what is hidden, but for what it is asked for by name if that is a WorkloadSpread.
type hiding struct {
	podwright.Reader
	hides func(any) bool
}

func (r hiding) Get(resource podwright.Resource, namespace, name string) (any, error) {
	object, err := r.Reader.Get(resource, namespace, name)
	if err == nil && resource != resourceSpreads && r.hides(object) {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: string(resource)}, name)
	}
	return object, err
}

func (r hiding) List(resource podwright.Resource, namespace string) ([]any, error) {
	objects, err := r.Reader.List(resource, namespace)
	return slices.DeleteFunc(slices.Clone(objects), r.hides), err
}

func (r hiding) ByIndex(resource podwright.Resource, namespace string, index podwright.Index, key string) ([]any, error) {
	objects, err := r.Reader.ByIndex(resource, namespace, index, key)
	return slices.DeleteFunc(slices.Clone(objects), r.hides), err
}

// What may be hidden: ReplicaSets, those of later revisions, and WorkloadSpreads.
func replicaSet(object any) bool {
	_, is := object.(*appsv1.ReplicaSet)
	return is
}

func laterReplicaSets(object any) bool {
	rs, is := object.(*appsv1.ReplicaSet)
	return is && rs.Annotations[deploymentRevision] != "1"
}

func anySpreads(object any) bool {
	_, is := object.(*v1alpha1.WorkloadSpread)
	return is
}

// wantTwice has twice as many pods wanted as the workload creates, of which a subset may have a part.
func wantTwice(u *simulation.User, r *rand.Rand) {
	u.Edit(`{"spec":{"targetFilter":{"selector":null,"replicasPathList":["spec.replicas","spec.replicas"]},"subsets":` +
		simulation.Pick(`[{"name":"a","maxReplicas":"%v%%"},{"name":"b"}]`, 20, 50)(r) + `}}`)
}

// revived has pods run that have ended so.
func revived(ended corev1.PodPhase) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		if pod.Status.Phase == ended {
			pod.Status.Phase = corev1.PodRunning
		}
	}
}

func undelete(pod *corev1.Pod) { pod.DeletionTimestamp = nil }

func aSecondOlder(pod *corev1.Pod) {
	pod.CreationTimestamp = metav1.NewTime(pod.CreationTimestamp.Add(-time.Second))
}

var (
	demandNothing = inSubsets(func(s *v1alpha1.WorkloadSpreadSubset) { s.RequiredNodeSelectorTerm = nil })
	preferNothing = inSubsets(func(s *v1alpha1.WorkloadSpreadSubset) { s.PreferredNodeSelectorTerms = nil })
)

func hurry(ws *v1alpha1.WorkloadSpread) {
	if a := ws.Spec.ScheduleStrategy.Adaptive; a != nil {
		a.RescheduleCriticalSeconds = new(int32(1))
	}
}

// stayClosed never opens a subset again.
func stayClosed(s *Snapshot, p *Plan) {
	if p.Status == nil {
		return
	}
	for i := range p.Status.SubsetStatuses {
		now := &p.Status.SubsetStatuses[i]
		if !slices.Contains(p.Recovered, now.Name) {
			continue
		}
		for _, before := range s.Spread.Status.SubsetStatuses {
			if before.Name == now.Name {
				now.Conditions = before.Conditions
			}
		}
	}
	if spread.Equal(&s.Spread.Status, p.Status) {
		p.Status = nil
	}
}

// costing has deleting some pods, by what that costs, cost the same.
func costing(which func(cost string) bool, now string) func(*Snapshot, *Plan) {
	return func(_ *Snapshot, p *Plan) {
		for i := range p.Patches {
			if cost := p.Patches[i].Annotations[corev1.PodDeletionCost]; cost != nil && which(*cost) {
				*cost = now
			}
		}
	}
}

// adoptDropped gives pods of a subset that is not in the spec to the first one.
func adoptDropped(s *Snapshot, p *Plan) {
	for i := range p.Patches {
		patch := &p.Patches[i]
		if matched, readable := spread.Matched(patch.Pod); patch.Subset == v1alpha1.FakeSubsetName && readable && matched.Name == s.Spread.Name {
			patch.Annotations[v1alpha1.MatchedWorkloadSpreadAnnotation] = new(`{"name":"` + s.Spread.Name + `","subset":"` + s.Spread.Spec.Subsets[0].Name + `"}`)
		}
	}
}

// patiently is for the Wrap of a rest.Config: no request ends before it is answered.
func patiently(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		return next.RoundTrip(r.WithContext(context.WithoutCancel(r.Context())))
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// note has a replica of the webhook write into the WorkloadSpread whom it has placed.
func note(ctx context.Context, p *simulation.Process) {
	kube, err := p.Kubernetes()
	if err == nil {
		err = kube.CoreV1().RESTClient().Patch(types.MergePatchType).AbsPath("/apis/apps.kruise.io/v1alpha1/namespaces/default/workloadspreads/web/status").
			Body([]byte(`{"status":{"observedGeneration":0}}`)).Do(ctx).Error()
	}
	_ = err // it is a bug anyway
}
