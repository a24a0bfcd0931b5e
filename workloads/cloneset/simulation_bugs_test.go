// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/readers"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/lifecycle"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestSimulationFindsBugs plants bugs, each of which a few seeds must find.
func TestSimulationFindsBugs(t *testing.T) {
	var bugs []simulation.Bug
	for _, b := range []struct {
		name   string
		breaks invariants.Invariant
		seed   uint64
		bug    bug
	}{
		{"maxUnavailable is misread", invariants.Availability, 0, inSpec(func(spec *v1alpha1.CloneSetSpec) {
			spec.UpdateStrategy.MaxUnavailable = ptr.To(intstr.FromInt32(2))
			spec.UpdateStrategy.MaxSurge = nil
		})},
		{"one pod too many", invariants.Surge, 0, inSpec(func(spec *v1alpha1.CloneSetSpec) {
			spec.Replicas = ptr.To(ptr.Deref(spec.Replicas, 1) + 1)
		})},
		{"minReadySeconds is forgotten", invariants.Availability, 101, inSpec(func(spec *v1alpha1.CloneSetSpec) { spec.MinReadySeconds = 0 })},
		{"the partition is ignored", invariants.Partition, 4, inSpec(func(spec *v1alpha1.CloneSetSpec) { spec.UpdateStrategy.Partition = nil })},
		{"paused is ignored", invariants.Paused, 37, inSpec(func(spec *v1alpha1.CloneSetSpec) { spec.UpdateStrategy.Paused = false })},
		{"InPlaceOnly recreates", invariants.Needless, 6, inSpec(func(spec *v1alpha1.CloneSetSpec) {
			spec.UpdateStrategy.Type = v1alpha1.RecreateCloneSetUpdateStrategyType
		})},
		{"the preDelete hook is skipped", invariants.Hooks, 5, inHooks(func(l *lifecyclev1alpha1.Lifecycle) { l.PreDelete = nil })},
		{"the inPlaceUpdate hook is skipped", invariants.Hooks, 2, inHooks(func(l *lifecyclev1alpha1.Lifecycle) { l.InPlaceUpdate = nil })},
		{"the preNormal hook is skipped", invariants.Hooks, 6, inHooks(func(l *lifecyclev1alpha1.Lifecycle) { l.PreNormal = nil })},
		{"scaleStrategy.maxUnavailable is ignored", invariants.ScaleRate, 11, inSpec(func(spec *v1alpha1.CloneSetSpec) { spec.ScaleStrategy.MaxUnavailable = nil })},
		{"podsToDelete is pruned too early", invariants.Spec, 2, inPlan(func(s *Snapshot, p *Plan) {
			if len(s.Set.Spec.ScaleStrategy.PodsToDelete) > 0 {
				p.PodsToDelete, p.PrunePodsToDelete = nil, true
			}
		})},
		{"reconciles do not wait for the synced resourceVersion", invariants.Surge, 14, bug{Options: func(o *Options) { o.Reader, o.AllowStaleReads = readers.Blind{Reader: o.Reader}, true }}},
		{"pods of others are taken for its own", invariants.Ownership, 3, bug{Options: func(o *Options) { o.Reader = greedy{o.Reader} }}},
		{"deletions do not name the UID", invariants.Ownership, 1, bug{
			Config: func(c *rest.Config) { c.Wrap(simulation.SpoilDeletions("{}")) }, Often: takeNames,
		}},
		{"pods are created in a namespace that ends", invariants.Ending, 0, bug{Config: func(c *rest.Config) { c.Wrap(simulation.HideCauses) }}},
		{"a finalizer of the controller stays on pods", invariants.Ending, 0, inPlan(func(_ *Snapshot, p *Plan) {
			for i := range p.Create {
				p.Create[i].Pod.Finalizers = append(p.Create[i].Pod.Finalizers, "apps.kruise.io/cloneset")
			}
		})},
		{"a pod is created twice", invariants.Surge, 0, inPlan(func(s *Snapshot, p *Plan) {
			if len(p.Create) > 0 {
				again := p.Create[0]
				again.Pod = again.Pod.DeepCopy()
				again.Pod.Labels[v1alpha1.CloneSetInstanceIDLabel] += "2"
				again.Pod.Name += "2"
				p.Create = append(p.Create, again)
			}
		})},
		{"two pods have one instance id", invariants.Identity, 0, inPlan(func(s *Snapshot, p *Plan) {
			for i := range p.Create {
				p.Create[i].Pod.Labels[v1alpha1.CloneSetInstanceIDLabel] = "same"
			}
		})},
		{"an update in place changes a label more", invariants.InPlace, 2, inPatches(func(p *rollout.PodPatch) {
			p.Patch.Labels["touched"] = ptr.To("true")
		})},
		{"an update in place makes pods ready", invariants.InPlace, 10, inPatches(func(p *rollout.PodPatch) {
			p.Patch.SetCondition(corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
		})},
		{"an update in place leaves pods in service", invariants.InPlace, 2, inPatches(func(p *rollout.PodPatch) { p.Patch.Conditions = nil })},
		{"claims are deleted while their pods are there", invariants.Claims, 1, inPlan(func(s *Snapshot, p *Plan) {
			for _, claim := range s.Claims { // without the id, no controller finds the pod that uses it
				claim = claim.DeepCopy()
				delete(claim.Labels, v1alpha1.CloneSetInstanceIDLabel)
				p.DeleteClaims = append(p.DeleteClaims, claim)
			}
		})},
		{"the status counts one too many", invariants.Status, 0, inPlan(func(_ *Snapshot, p *Plan) {
			if p.Status != nil {
				p.Status.ReadyReplicas++
			}
		})},
		{"the status is not written", invariants.Settled, 1, bug{Reconciler: func(r Reconciler) {
			merge := controller.KindOf(r).Writer.(*apply.Writer).Merge
			controller.KindOf(r).Writer.(*apply.Writer).Merge = func(ctx context.Context, key types.NamespacedName, data []byte, subresources ...string) (string, error) {
				if len(subresources) > 0 {
					return "", nil
				}
				return merge(ctx, key, data)
			}
		}}},
		{"the partition is one less", invariants.Partition, 10, inSpec(func(spec *v1alpha1.CloneSetSpec) {
			if p := spec.UpdateStrategy.Partition; p != nil && p.Type == intstr.Int && p.IntVal > 0 {
				spec.UpdateStrategy.Partition = ptr.To(intstr.FromInt32(p.IntVal - 1))
			}
		})},
		{"maxSurge is one more", invariants.Surge, 29, inSpec(func(spec *v1alpha1.CloneSetSpec) {
			if s := spec.UpdateStrategy.MaxSurge; s != nil && s.Type == intstr.Int && s.IntVal > 0 {
				spec.UpdateStrategy.MaxSurge = ptr.To(intstr.FromInt32(s.IntVal + 1))
			}
		})},
		{"the latest of two timers is kept", invariants.Settled, 20, bug{Reconciler: inPlan(keepLatestTimer).Reconciler, Often: stagger}},
		{"scaling in begins with the pods that serve", invariants.Order, 84, inPlan(deleteServing)},
		{"currentRevision advances while held-back pods are missing", invariants.Status, 21, inPlan(advanceEarly)},
		{"another update begins within the grace period", invariants.InPlace, 6, bug{Reconciler: misreading(forgetGrace), Often: updateGracefully}},
		{"pods are released without their claims", invariants.Claims, 5, bug{Reconciler: misreading(forgetClaimsOfReleased)}},
		{"the claim of a pod that is not ready is deleted", invariants.Claims, 1, bug{Reconciler: func(r Reconciler) {
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
		}}},
		{"the claim of a pod that is not ready is released", invariants.Claims, 1, inPlan(releaseUnready)},
		{"changes of claims do not name the UID", invariants.Ownership, 1, bug{Config: func(c *rest.Config) {
			c.Wrap(simulation.SpoilBodies(http.MethodPatch, "persistentvolumeclaims", simulation.Forget("metadata", "uid")))
		}}},
		{"revisions are deleted whatever has become of them", invariants.History, 8, bug{Config: func(c *rest.Config) {
			c.Wrap(simulation.SpoilBodies(http.MethodDelete, "controllerrevisions", simulation.Forget("preconditions", "resourceVersion")))
		}}},
		{"one revision too many is deleted", invariants.History, 8, inSpec(func(spec *v1alpha1.CloneSetSpec) {
			spec.RevisionHistoryLimit = ptr.To(max(ptr.Deref(spec.RevisionHistoryLimit, 10)-1, 0))
		})},
		{"a CloneSet in deletion goes on", invariants.Needless, 3, inSet(func(set *v1alpha1.CloneSet) { set.DeletionTimestamp = nil })},
		{"a status counts pods that are still to be updated as expected", invariants.Status, 0, inPlan(func(_ *Snapshot, p *Plan) {
			if p.Status != nil && p.Status.UpdatedReplicas < p.Status.Replicas {
				p.Status.ExpectedUpdatedReplicas = p.Status.Replicas
			}
		})},
	} {
		bugs = append(bugs, simulation.Bug{Name: b.name, Breaks: b.breaks, First: b.seed, Workload: played(b.bug, earlier)})
	}
	simulation.FindBugs(t, bugs)
}

// bug is planted into a controller.
type bug = simulation.Spoil[Options, Reconciler]

// takeNames marks pods, and puts strangers in the places of those that are to go.
func takeNames(u *simulation.User, r *rand.Rand) {
	if doomed := u.Doomed(); doomed != nil && len(doomed.Spec.Volumes) == 0 {
		u.TakeName(doomed)
	} else if pod := u.AnyPod(r); pod != nil {
		u.PatchPod(pod.Name, `{"metadata":{"labels":{"apps.kruise.io/specified-delete":"true"}}}`)
	}
}

// inPlan plants a bug into plans.
func inPlan(spoil func(*Snapshot, *Plan)) bug {
	return bug{Reconciler: func(r Reconciler) {
		controller.KindOf(r).Plan = simulation.Spoiled(NewPlan, spoil)
	}}
}

// misreading plants a bug into what planners see. The status stays right.
func misreading(spoil func(*Snapshot)) func(Reconciler) {
	return func(r Reconciler) {
		controller.KindOf(r).Plan = func(s *Snapshot) *Plan {
			misread := *s
			misread.Set = s.Set.DeepCopy()
			misread.Pods, misread.Claims = slices.Clone(s.Pods), slices.Clone(s.Claims)
			spoil(&misread)
			p := NewPlan(&misread)
			p.Status = NewPlan(s).Status
			return p
		}
	}
}

// inSet plants a bug into how planners read the CloneSet.
func inSet(spoil func(*v1alpha1.CloneSet)) bug {
	return bug{Reconciler: misreading(func(s *Snapshot) { spoil(s.Set) })}
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
