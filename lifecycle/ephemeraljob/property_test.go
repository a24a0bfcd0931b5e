// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// drawSnapshot draws a job that goes on, and its pods.
func drawSnapshot(t *testing.T, r *rapid.T) *Snapshot {
	states := rapid.SampledFrom([]string{"", "", "", "injected", "waiting", "running", "exit0", "exit1", "unstartable", "taken", "ended", "leaving", "other", "exit0,ended"})
	var words []string
	for i := range rapid.IntRange(0, 12).Draw(r, "pods") {
		words = append(words, fmt.Sprintf("p%d:%s", i, states.Draw(r, "state")))
	}
	job := newJob()
	job.Spec.Parallelism = rapid.Ptr(rapid.Int32Range(-1, 6), true).Draw(r, "parallelism")
	job.Spec.Replicas = rapid.Ptr(rapid.Int32Range(-1, 14), true).Draw(r, "replicas")
	job.Spec.ActiveDeadlineSeconds = rapid.Ptr(rapid.Int64Range(-1, 120), true).Draw(r, "deadline")
	job.Spec.Paused = rapid.IntRange(0, 4).Draw(r, "paused") == 0
	if rapid.Bool().Draw(r, "unique") {
		job.Annotations = map[string]string{v1alpha1.EphemeralJobUniqueNamesAnnotation: "true"}
	}
	s := place(t, job, strings.Join(words, " "))
	for _, pod := range s.Pods {
		if rapid.IntRange(0, 4).Draw(r, "refused") == 0 {
			if s.Refusals.Pods == nil {
				s.Refusals = Refusals{Tried: true, Pods: map[types.UID]Refusal{}}
			}
			s.Refusals.Pods[pod.UID] = Refusal{Message: "no", Until: noon.Add(time.Duration(rapid.IntRange(-1, 2).Draw(r, "until")) * time.Second), Times: 1}
		}
	}
	return s
}

// underWay is in how many pods containers of the job have neither failed nor all succeeded.
func underWay(s *Snapshot) (n int) {
	for _, pod := range s.Pods {
		if state := (&planner{Snapshot: &Snapshot{}, plan: &Plan{}}).stateOf(pod, ownContainers(s.Job, pod)); podstate.Active(pod) && pod.Labels["app"] == "web" &&
			(state == Injected || state == Waiting || state == Running) {
			n++
		}
	}
	return n
}

// What holds for every plan.
func TestPlanInvariants(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := drawSnapshot(t, r)
		var before []*corev1.Pod
		for _, pod := range s.Pods {
			before = append(before, pod.DeepCopy())
		}
		plan := NewPlan(s)
		limit := max(int(ptr.Deref(s.Job.Spec.Parallelism, 1)), 0)
		if n := underWay(s) + len(plan.Inject); len(plan.Inject) > 0 && n > limit {
			r.Fatalf("EJ-9: containers would be under way in %d pods, at a parallelism of %d", n, limit)
		}
		if replicas := s.Job.Spec.Replicas; replicas != nil && len(plan.Targets) > max(int(*replicas), 0) {
			r.Fatalf("EJ-6: %d targets", len(plan.Targets))
		}
		state := map[string]State{}
		for _, target := range plan.Targets {
			if !podstate.Active(target.Pod) || target.Pod.Labels["app"] != "web" {
				r.Fatalf("EJ-4: %s is a target", target.Pod.Name)
			}
			state[target.Pod.Name] = target.State
		}
		seen := map[string]int{}
		for _, pod := range plan.Inject {
			if seen[pod.Name]++; state[pod.Name] != NotInjected {
				r.Fatalf("%s is injected, whose state is %s", pod.Name, state[pod.Name])
			}
			if taken(pod, namesFor(s.Job)) != "" {
				r.Fatalf("EJ-5: %s is injected", pod.Name)
			}
			if s.Refusals.Pods[pod.UID].Until.After(s.Now) {
				r.Fatalf("EJ-14: %s is injected", pod.Name)
			}
		}
		finished := plan.Status != nil && plan.Status.CompletionTime != nil
		if finished && len(plan.Inject) > 0 || s.Job.Spec.Paused && len(plan.Inject) > 0 {
			r.Fatal("EJ-17, EJ-18: a job that has finished or is paused injects")
		}
		for _, w := range plan.Waiting {
			seen[w.Pod.Name]++
		}
		for name, state := range state { // every pod without containers gets them, or there is a reason
			if want := map[bool]int{true: 1}[state == NotInjected && !finished]; seen[name] != want {
				r.Fatalf("%s (%s) is injected or waits %d times, want %d", name, state, seen[name], want)
			}
		}
		if diff := cmp.Diff(describe(plan), describe(NewPlan(s))); diff != "" {
			r.Fatalf("the same snapshot gives another plan:\n%s", diff)
		}
		if diff := cmp.Diff(before, s.Pods); diff != "" {
			r.Fatalf("the plan has changed pods:\n%s", diff)
		}
	})
}

// Whatever a job is like that is not paused and has pods, it ends once its containers do.
func TestEveryJobEnds(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := drawSnapshot(t, r)
		s.Job.Spec.Paused, s.Job.Spec.Parallelism, s.Job.Spec.ActiveDeadlineSeconds = false, new(int32(2)), nil
		for range 100 {
			plan := NewPlan(s)
			if plan.Status != nil {
				s.Job.Status = *plan.Status
			}
			if s.Job.Status.CompletionTime != nil {
				if got := s.Job.Status; got.Succeeded+got.Failed != got.Matches || (got.Phase == v1alpha1.EphemeralJobSucceeded) != (got.Failed == 0) {
					r.Fatalf("EJ-16: it ends with %+v", got)
				}
				return
			}
			if s.Job.Status.Matches == 0 {
				return // it waits for pods
			}
			s = step(t, s, plan)
		}
		r.Fatalf("it never ends: %s, targets %v", show(NewPlan(s)), NewPlan(s).Targets)
	})
}

// step injects what is planned, and has all containers go on.
func step(t *testing.T, s *Snapshot, plan *Plan) *Snapshot {
	next := *s
	next.Now = s.Now.Add(5 * time.Second)
	next.Pods = nil
	for _, pod := range s.Pods {
		pod = pod.DeepCopy()
		for _, target := range plan.Inject {
			if target.UID == pod.UID {
				pod.Spec.EphemeralContainers = append(pod.Spec.EphemeralContainers, plan.Containers...)
			}
		}
		for _, name := range ownContainers(s.Job, pod) {
			status := ephemeralStatus(pod, name)
			if status == nil {
				pod.Status.EphemeralContainerStatuses = append(pod.Status.EphemeralContainerStatuses, corev1.ContainerStatus{Name: name, State: *stateNamed(t, "running")})
			} else if status.State.Terminated == nil {
				status.State = *stateNamed(t, "exit0")
			}
		}
		next.Pods = append(next.Pods, pod)
	}
	return &next
}
