// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"context"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/readers"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
	"github.com/podwright/podwright/lifecycle"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestSimulationFindsBugs plants bugs, each of which a few seeds must find.
func TestSimulationFindsBugs(t *testing.T) {
	plant := simulation.Plant(t, func(b bug) *simulation.Subject { return played(b, earlier) })
	plant("maxUnavailable is misread", invariants.Availability, 0, inSpec(func(spec *v1alpha1.CloneSetSpec) {
		spec.UpdateStrategy.MaxUnavailable = ptr.To(intstr.FromInt32(2))
		spec.UpdateStrategy.MaxSurge = nil
	}))
	plant("one pod too many", invariants.Surge, 0, inSpec(func(spec *v1alpha1.CloneSetSpec) {
		spec.Replicas = ptr.To(ptr.Deref(spec.Replicas, 1) + 1)
	}))
	plant("minReadySeconds is forgotten", invariants.Availability, 101, inSpec(func(spec *v1alpha1.CloneSetSpec) { spec.MinReadySeconds = 0 }))
	plant("the partition is ignored", invariants.Partition, 4, inSpec(func(spec *v1alpha1.CloneSetSpec) { spec.UpdateStrategy.Partition = nil }))
	plant("paused is ignored", invariants.Paused, 37, inSpec(func(spec *v1alpha1.CloneSetSpec) { spec.UpdateStrategy.Paused = false }))
	plant("InPlaceOnly recreates", invariants.Needless, 6, inSpec(func(spec *v1alpha1.CloneSetSpec) {
		spec.UpdateStrategy.Type = v1alpha1.RecreateCloneSetUpdateStrategyType
	}))
	plant("the preDelete hook is skipped", invariants.Hooks, 5, inHooks(func(l *lifecyclev1alpha1.Lifecycle) { l.PreDelete = nil }))
	plant("the inPlaceUpdate hook is skipped", invariants.Hooks, 2, inHooks(func(l *lifecyclev1alpha1.Lifecycle) { l.InPlaceUpdate = nil }))
	plant("the preNormal hook is skipped", invariants.Hooks, 6, inHooks(func(l *lifecyclev1alpha1.Lifecycle) { l.PreNormal = nil }))
	plant("scaleStrategy.maxUnavailable is ignored", invariants.ScaleRate, 11, inSpec(func(spec *v1alpha1.CloneSetSpec) { spec.ScaleStrategy.MaxUnavailable = nil }))
	plant("podsToDelete is pruned too early", invariants.Spec, 2, inPlan(func(s *Snapshot, p *Plan) {
		if len(s.Set.Spec.ScaleStrategy.PodsToDelete) > 0 {
			p.PodsToDelete, p.PrunePodsToDelete = nil, true
		}
	}))
	plant("reconciles do not wait for the synced resourceVersion", invariants.Surge, 14, bug{Options: func(o *Options) { o.Reader, o.AllowStaleReads = readers.Blind{Reader: o.Reader}, true }})
	plant("pods of others are taken for its own", invariants.Ownership, 3, bug{Options: func(o *Options) { o.Reader = greedy{o.Reader} }})
	plant("deletions do not name the UID", invariants.Ownership, 1, onWire(simulation.SpoilDeletions("{}")).While(takeNames))
	plant("pods are created in a namespace that ends", invariants.Ending, 0, onWire(simulation.HideCauses))
	plant("a finalizer of the controller stays on pods", invariants.Ending, 0, inPlan(func(_ *Snapshot, p *Plan) {
		for i := range p.Create {
			p.Create[i].Pod.Finalizers = append(p.Create[i].Pod.Finalizers, "apps.kruise.io/cloneset")
		}
	}))
	plant("a pod is created twice", invariants.Surge, 0, inPlan(func(s *Snapshot, p *Plan) {
		if len(p.Create) > 0 {
			again := p.Create[0]
			again.Pod = again.Pod.DeepCopy()
			again.Pod.Labels[v1alpha1.CloneSetInstanceIDLabel] += "2"
			again.Pod.Name += "2"
			p.Create = append(p.Create, again)
		}
	}))
	plant("two pods have one instance id", invariants.Identity, 0, inPlan(func(s *Snapshot, p *Plan) {
		for i := range p.Create {
			p.Create[i].Pod.Labels[v1alpha1.CloneSetInstanceIDLabel] = "same"
		}
	}))
	plant("an update in place changes a label more", invariants.InPlace, 2, inPatches(func(p *rollout.PodPatch) {
		p.Patch.Labels["touched"] = ptr.To("true")
	}))
	plant("an update in place makes pods ready", invariants.InPlace, 10, inPatches(func(p *rollout.PodPatch) {
		p.Patch.SetCondition(corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
	}))
	plant("an update in place leaves pods in service", invariants.InPlace, 2, inPatches(func(p *rollout.PodPatch) { p.Patch.Conditions = nil }))
	plant("claims are deleted while their pods are there", invariants.Claims, 1, inPlan(func(s *Snapshot, p *Plan) {
		for _, claim := range s.Claims { // without the id, no controller finds the pod that uses it
			claim = claim.DeepCopy()
			delete(claim.Labels, v1alpha1.CloneSetInstanceIDLabel)
			p.DeleteClaims = append(p.DeleteClaims, claim)
		}
	}))
	plant("the status counts one too many", invariants.Status, 0, inStatus(func(status *v1alpha1.CloneSetStatus) { status.ReadyReplicas++ }))
	plant("the status is not written", invariants.Settled, 1, bug{Reconciler: func(r Reconciler) {
		merge := controller.KindOf(r).Writer.(*apply.Writer).Merge
		controller.KindOf(r).Writer.(*apply.Writer).Merge = func(ctx context.Context, key types.NamespacedName, data []byte, subresources ...string) (string, error) {
			if len(subresources) > 0 {
				return "", nil
			}
			return merge(ctx, key, data)
		}
	}})
	plant("the partition is one less", invariants.Partition, 10, inSpec(func(spec *v1alpha1.CloneSetSpec) {
		if p := spec.UpdateStrategy.Partition; p != nil && p.Type == intstr.Int && p.IntVal > 0 {
			spec.UpdateStrategy.Partition = ptr.To(intstr.FromInt32(p.IntVal - 1))
		}
	}))
	plant("maxSurge is one more", invariants.Surge, 29, inSpec(func(spec *v1alpha1.CloneSetSpec) {
		if s := spec.UpdateStrategy.MaxSurge; s != nil && s.Type == intstr.Int && s.IntVal > 0 {
			spec.UpdateStrategy.MaxSurge = ptr.To(intstr.FromInt32(s.IntVal + 1))
		}
	}))
	plant("the latest of two timers is kept", invariants.Settled, 20, inPlan(keepLatestTimer).While(stagger))
	plant("scaling in begins with the pods that serve", invariants.Order, 84, inPlan(deleteServing))
	plant("currentRevision advances while held-back pods are missing", invariants.Status, 21, inPlan(advanceEarly))
	plant("another update begins within the grace period", invariants.InPlace, 6, misreading(forgetGrace).While(edit("updateGracefully")))
	plant("pods are released without their claims", invariants.Claims, 5, misreading(forgetClaimsOfReleased))
	plant("the claim of a pod that is not ready is deleted", invariants.Claims, 1, bug{Reconciler: func(r Reconciler) {
		kind := controller.KindOf(r)
		apply, claims := kind.Apply, kind.Writer.(*apply.Writer).Claims
		kind.Apply = func(ctx context.Context, s *Snapshot, p *Plan) (time.Duration, error) {
			for _, claim := range s.Claims {
				for _, pod := range s.Pods {
					if instanceID(pod) == claim.Labels[v1alpha1.CloneSetInstanceIDLabel] && pod.Spec.NodeName != "" && !lifecycle.Ready(pod) {
						_, _ = claims.Delete(ctx, claim)
					}
				}
			}
			return apply(ctx, s, p)
		}
	}})
	plant("the claim of a pod that is not ready is released", invariants.Claims, 1, inPlan(releaseUnready))
	plant("changes of claims do not name the UID", invariants.Ownership, 1,
		onWire(simulation.Forgetting(http.MethodPatch, "persistentvolumeclaims", "metadata", "uid")))
	plant("revisions are deleted whatever has become of them", invariants.History, 8,
		onWire(simulation.Forgetting(http.MethodDelete, "controllerrevisions", "preconditions", "resourceVersion")))
	plant("one revision too many is deleted", invariants.History, 8, inSpec(func(spec *v1alpha1.CloneSetSpec) {
		spec.RevisionHistoryLimit = ptr.To(max(ptr.Deref(spec.RevisionHistoryLimit, 10)-1, 0))
	}))
	plant("a CloneSet in deletion goes on", invariants.Needless, 3, inSet(func(set *v1alpha1.CloneSet) { set.DeletionTimestamp = nil }))
	plant("a status counts pods that are still to be updated as expected", invariants.Status, 0, inPlan(func(_ *Snapshot, p *Plan) {
		if p.Status != nil && p.Status.UpdatedReplicas < p.Status.Replicas {
			p.Status.ExpectedUpdatedReplicas = p.Status.Replicas
		}
	}))
}

// bug is planted into a controller.
type bug = simulation.Spoil[Options, Reconciler]

// inPlan plants a bug into plans, inStatus into what a status says, misreading into what planners see, and onWire into requests.
var (
	inPlan     = planted.InPlan[Options, Snapshot, Plan]
	inStatus   = planted.InStatus[Options, Snapshot, Plan, v1alpha1.CloneSetStatus]
	misreading = planted.MisreadAll[Options, Snapshot, Plan]
	onWire     = simulation.OnWire[Options, Reconciler]
)

// takeNames marks pods, and puts strangers in the places of those that are to go.
func takeNames(u *simulation.User, r *rand.Rand) {
	if doomed := u.Doomed(); doomed != nil && len(doomed.Spec.Volumes) == 0 {
		u.TakeName(doomed)
	} else if pod := u.AnyPod(r); pod != nil {
		u.PatchPod(pod.Name, `{"metadata":{"labels":{"apps.kruise.io/specified-delete":"true"}}}`)
	}
}

// inSet plants a bug into how planners read the CloneSet.
func inSet(spoil func(*v1alpha1.CloneSet)) bug {
	return misreading(func(s *Snapshot) { spoil(s.Set) })
}

// inSpec plants a bug into how planners read the spec.
func inSpec(spoil func(*v1alpha1.CloneSetSpec)) bug {
	return inSet(func(set *v1alpha1.CloneSet) { spoil(&set.Spec) })
}

func inHooks(spoil func(*lifecyclev1alpha1.Lifecycle)) bug {
	return inSpec(func(spec *v1alpha1.CloneSetSpec) {
		if spec.Lifecycle != nil {
			spoil(spec.Lifecycle)
		}
	})
}

// inPatches plants a bug into how pods are updated in place.
func inPatches(spoil func(*rollout.PodPatch)) bug {
	return inPlan(func(_ *Snapshot, p *Plan) {
		for i := range p.Patch {
			if p.Patch[i].Kind == rollout.PatchUpdateInPlace {
				spoil(&p.Patch[i])
			}
		}
	})
}

// greedy finds pods by their labels, and takes them for owned ones.
type greedy struct{ podwright.Reader }

func (g greedy) ByIndex(resource podwright.Resource, namespace string, index podwright.Index, key string) (pods []any, err error) {
	if resource != ResourcePods {
		return g.Reader.ByIndex(resource, namespace, index, key)
	}
	all, err := g.List(resource, namespace)
	for _, each := range all {
		if pod := each.(*corev1.Pod); pod.Labels["app"] == "web" {
			pod = pod.DeepCopy()
			pod.OwnerReferences = []metav1.OwnerReference{{UID: types.UID(key), Controller: new(true)}}
			pods = append(pods, pod)
		}
	}
	return pods, err
}
