package statefulset

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/simulation"
	"github.com/podwright/podwright/internal/simulation/invariants"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// TestSimulationFindsBugs plants bugs, each of which a few seeds must find.
func TestSimulationFindsBugs(t *testing.T) {
	var bugs []simulation.Bug
	for _, b := range []struct {
		name   string
		breaks invariants.Invariant
		bug    bug
	}{
		{"maxUnavailable is one too many", invariants.Availability, inRolling(func(s *v1beta1.RollingUpdateStatefulSetStrategy) {
			s.MaxUnavailable = ptr.To(intstr.FromInt32(3))
		})},
		{"minReadySeconds is forgotten", invariants.Order, inRolling(func(s *v1beta1.RollingUpdateStatefulSetStrategy) { s.MinReadySeconds = nil })},
		{"the partition is ignored", invariants.Partition, inRolling(func(s *v1beta1.RollingUpdateStatefulSetStrategy) { s.Partition = nil })},
		{"paused is ignored", invariants.Paused, inRolling(func(s *v1beta1.RollingUpdateStatefulSetStrategy) { s.Paused = false })},
		{"InPlaceOnly recreates", invariants.Needless, inRolling(func(s *v1beta1.RollingUpdateStatefulSetStrategy) {
			s.PodUpdatePolicy = v1beta1.RecreatePodUpdateStrategyType
		})},
		{"OnDelete is taken for RollingUpdate", invariants.Needless, inSpec(func(s *v1beta1.StatefulSetSpec) {
			s.UpdateStrategy.Type = appsv1.RollingUpdateStatefulSetStrategyType
		})},
		{"OrderedReady is taken for Parallel", invariants.Order, inSpec(func(s *v1beta1.StatefulSetSpec) {
			s.PodManagementPolicy = appsv1.ParallelPodManagement
		})},
		{"scaleStrategy.maxUnavailable is ignored", invariants.ScaleRate, inSpec(func(s *v1beta1.StatefulSetSpec) { s.ScaleStrategy = nil })},
		{"reserved ordinals are ignored", invariants.Identity, inSpec(func(s *v1beta1.StatefulSetSpec) { s.ReserveOrdinals = nil })},
		{"the preDelete hook is skipped", invariants.Hooks, inHooks(func(l *lifecyclev1alpha1.Lifecycle) { l.PreDelete = nil })},
		{"the inPlaceUpdate hook is skipped", invariants.Hooks, inHooks(func(l *lifecyclev1alpha1.Lifecycle) { l.InPlaceUpdate = nil })},
		{"claims go with the set against the policy", invariants.Claims, inSpec(func(s *v1beta1.StatefulSetSpec) {
			s.PersistentVolumeClaimRetentionPolicy = &v1beta1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenDeleted: "Delete"}
		})},
		{"claims go with pods against the policy", invariants.Claims, inSpec(func(s *v1beta1.StatefulSetSpec) {
			s.PersistentVolumeClaimRetentionPolicy = &v1beta1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenScaled: "Delete"}
		})},
		{"claims of pods that are scaled in are deleted", invariants.Claims, bug{reconciler: func(r *Reconciler) {
			r.passes.Apply = func(ctx context.Context, s *Snapshot, p *Plan) (time.Duration, error) {
				for _, d := range p.Delete {
					if claim := s.Claims["data-"+d.Pod.Name]; claim != nil && d.For == rollout.DeleteForScale {
						_, _ = r.writer.Claims.Delete(ctx, claim)
					}
				}
				return r.apply(ctx, s, p)
			}
		}}},
		{"a claim that is about to go is used again", invariants.Claims, bug{often: scaleOften, reconciler: misreading(func(s *Snapshot) {
			for name, claim := range s.Claims {
				fresh := claim.DeepCopy()
				fresh.OwnerReferences, fresh.DeletionTimestamp = nil, nil
				s.Claims[name] = fresh
			}
		})}},
		{"pods of others are taken for its own", invariants.Ownership, bug{reconciler: misreading(func(s *Snapshot) {
			for i, pod := range s.Pods {
				mine := pod.DeepCopy()
				mine.OwnerReferences = []metav1.OwnerReference{ownerReference(s.Set)}
				s.Pods[i] = mine
			}
		})}},
		{"deletions do not name the UID", invariants.Ownership, bug{
			config: func(c *rest.Config) { c.Wrap(simulation.SpoilDeletions("{}")) }, often: takeNames,
		}},
		{"pods are deleted at once", invariants.Identity, bug{config: func(c *rest.Config) { c.Wrap(simulation.SpoilDeletions(`{"gracePeriodSeconds":0}`)) }}},
		{"a pod mounts the claim of another", invariants.Identity, inPlan(func(_ *Snapshot, p *Plan) {
			for _, c := range p.Create {
				for _, volume := range c.Pod.Spec.Volumes {
					if volume.PersistentVolumeClaim != nil {
						volume.PersistentVolumeClaim.ClaimName = "data-web-0"
					}
				}
			}
		})},
		{"an update in place changes a label more", invariants.InPlace, inPlan(func(_ *Snapshot, p *Plan) {
			for i := range p.Patch {
				if p.Patch[i].Kind == rollout.PatchUpdateInPlace {
					p.Patch[i].Patch.SetLabel("touched", "true")
				}
			}
		})},
		{"an update in place gives the wrong image", invariants.InPlace, inPlan(func(_ *Snapshot, p *Plan) {
			for i := range p.Patch {
				for container := range p.Patch[i].Patch.Images {
					p.Patch[i].Patch.Images[container] = "nginx:latest"
				}
			}
		})},
		{"the status counts one too many", invariants.Status, inPlan(func(_ *Snapshot, p *Plan) {
			if p.Status != nil {
				p.Status.AvailableReplicas++
			}
		})},
		{"the status is not written", invariants.Rest, bug{reconciler: func(r *Reconciler) {
			r.writer.PatchStatus = func(context.Context, types.NamespacedName, []byte) (string, error) { return "", nil }
		}}},
		{"no pass is made when minReadySeconds have passed", invariants.Rest, inPlan(func(_ *Snapshot, p *Plan) { p.RequeueAfter = 0 })},
		{"a planner panics", invariants.Calm, inRolling(func(s *v1beta1.RollingUpdateStatefulSetStrategy) {
			if s.Partition != nil && *s.Partition > 0 {
				panic("planted")
			}
		})},
	} {
		bugs = append(bugs, simulation.Bug{Name: b.name, Breaks: b.breaks, Workload: simulated(b.bug)})
	}
	simulation.FindBugs(t, bugs)
}

// bug spoils a controller at a point of its start; nil leaves it as it is.
type bug struct {
	config     func(*rest.Config)
	options    func(*Options)
	reconciler func(*Reconciler)
	often      func(*simulation.User, *rand.Rand) // what users do half of the time, where the bug would seldom show
}

// act is what users do in a step.
func (b *bug) act(u *simulation.User, r *rand.Rand) {
	if b.often != nil && r.IntN(2) == 0 {
		b.often(u, r)
		return
	}
	act(u, r)
}

// scaling is what gives pods up, and wants them again.
var scaling = simulation.Pick(`{"spec":{"replicas":%v}}`, 1, 4)

func scaleOften(u *simulation.User, r *rand.Rand) { u.Edit(scaling(r)) }

// takeNames gives pods up, and puts strangers in the places of those that are to go.
func takeNames(u *simulation.User, r *rand.Rand) {
	if doomed := u.Doomed(); doomed != nil {
		u.TakeName(doomed)
		return
	}
	scaleOften(u, r)
}

// inPlan plants a bug into plans.
func inPlan(spoil func(*Snapshot, *Plan)) bug {
	return bug{reconciler: func(r *Reconciler) {
		r.passes.Plan = func(s *Snapshot) *Plan {
			p := NewPlan(s)
			spoil(s, p)
			return p
		}
	}}
}

// misreading plants a bug into what planners see. The status stays right.
func misreading(spoil func(*Snapshot)) func(*Reconciler) {
	return func(r *Reconciler) {
		r.passes.Plan = func(s *Snapshot) *Plan {
			misread := *s
			misread.Set = s.Set.DeepCopy()
			misread.Pods, misread.Claims = slices.Clone(s.Pods), maps.Clone(s.Claims)
			spoil(&misread)
			p := NewPlan(&misread)
			p.Status = NewPlan(s).Status
			return p
		}
	}
}

// inSpec plants a bug into how planners read the spec.
func inSpec(spoil func(*v1beta1.StatefulSetSpec)) bug {
	return bug{reconciler: misreading(func(s *Snapshot) { spoil(&s.Set.Spec) })}
}

func inRolling(spoil func(*v1beta1.RollingUpdateStatefulSetStrategy)) bug {
	return inSpec(func(spec *v1beta1.StatefulSetSpec) {
		if spec.UpdateStrategy.RollingUpdate != nil {
			spoil(spec.UpdateStrategy.RollingUpdate)
		}
	})
}

func inHooks(spoil func(*lifecyclev1alpha1.Lifecycle)) bug {
	return inSpec(func(spec *v1beta1.StatefulSetSpec) {
		if spec.Lifecycle != nil {
			spoil(spec.Lifecycle)
		}
	})
}
