// SPDX-License-Identifier: Apache-2.0

package budget_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
)

// story is a CloneSet whose pods come, are told of their budget, are marked, and go by its leave. Two ask for leave, as
// two replicas of a webhook do, and one of them goes by what it read before. A pod that is not told yet goes without
// leave.
type story struct {
	t       *rapid.T
	now     time.Time
	budget  *v1alpha1.PodUnavailableBudget
	older   *v1alpha1.PodUnavailableBudget
	pods    []*corev1.Pod
	let     map[*corev1.Pod]leave // whose operation is allowed, and still to come
	desired int
	version int
}

// leave is an operation that is allowed. It happens soon, or never: the records are not kept
// for longer.
type leave struct {
	operation v1alpha1.PubOperation
	until     time.Time
}

func told(pod *corev1.Pod) bool { return pod.Annotations[v1alpha1.RelatedPubAnnotation] != "" }

func (s *story) available() (n int) {
	for _, pod := range s.pods {
		if budget.Active(pod) && budget.Ready(pod) && told(pod) {
			n++
		}
	}
	return n
}

// sync is what a controller does. It may fail to tell pods of their budget.
func (s *story) sync(tells bool) {
	w := workload("apps.kruise.io", "CloneSet", "web", 5, "")
	selection, err := budget.Select(s.budget, s.pods, workloads(w))
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := budget.Compute(s.budget, selection, s.now)
	if err != nil {
		s.t.Fatal(err)
	}
	s.write(s.budget, &r.Status)
	for _, pod := range selection.Pods {
		if tells {
			pod.Annotations[v1alpha1.RelatedPubAnnotation] = "web"
		}
	}
}

// write writes a status, unless another writer did since it was read.
func (s *story) write(read *v1alpha1.PodUnavailableBudget, status *v1alpha1.PodUnavailableBudgetStatus) bool {
	if read.ResourceVersion != s.budget.ResourceVersion {
		return false
	}
	s.older = s.budget
	s.budget = s.budget.DeepCopy()
	s.version++
	s.budget.Status, s.budget.ResourceVersion = *status, fmt.Sprint(s.version)
	return true
}

// ask asks whether an operation on a pod may go on.
func (s *story) ask(pod *corev1.Pod, operation v1alpha1.PubOperation, b *v1alpha1.PodUnavailableBudget) {
	d := budget.Decide(b, pod, budget.Request{Operation: operation, Now: s.now})
	if !told(pod) && d.Allowed {
		pod.DeletionTimestamp = &metav1.Time{Time: s.now}
		return
	}
	if d.Allowed && (d.Status == nil || s.write(b, d.Status)) && s.let[pod].operation == "" {
		s.let[pod] = leave{operation, s.now.Add(budget.UnavailableFor)}
	}
}

// The number of available pods that know their budget never falls below the desired one, unless pods turn unready by
// themselves. It does not matter what is asked, in which order, and which state the replica that asks has read.
func TestNeverFewerThanDesired(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		max := rapid.Int32Range(0, 3).Draw(t, "maxUnavailable")
		s := &story{t: t, now: start, let: map[*corev1.Pod]leave{}, desired: 5 - int(max),
			budget: newBudget(maxUnavailable(fmt.Sprint(max)), func(b *v1alpha1.PodUnavailableBudget) { b.Status = v1alpha1.PodUnavailableBudgetStatus{} })}
		s.pods, s.older = newPods(5), s.budget
		names := 5
		pick := func() *corev1.Pod { return s.pods[rapid.IntRange(0, len(s.pods)-1).Draw(t, "pod")] }
		t.Repeat(map[string]func(*rapid.T){
			"sync": func(t *rapid.T) { s.sync(rapid.Bool().Draw(t, "tells")) },
			"wait": func(t *rapid.T) {
				s.now = s.now.Add(time.Duration(rapid.IntRange(0, 9).Draw(t, "seconds")) * time.Second)
				maps.DeleteFunc(s.let, func(_ *corev1.Pod, l leave) bool { return l.until.Before(s.now) })
			},
			"mark": func(*rapid.T) { marked(pick()) },
			"ask": func(t *rapid.T) {
				b := s.budget
				if rapid.Bool().Draw(t, "older") {
					b = s.older
				}
				s.ask(pick(), rapid.SampledFrom([]v1alpha1.PubOperation{v1alpha1.PubDeleteOperation, v1alpha1.PubEvictOperation, v1alpha1.PubUpdateOperation}).Draw(t, "operation"), b)
			},
			"done": func(*rapid.T) { // all that was allowed happens, at once
				for i, pod := range s.pods {
					switch s.let[pod].operation {
					case v1alpha1.PubUpdateOperation:
						s.pods[i] = pod.DeepCopy()
						unready(s.pods[i])
					case "":
					default:
						s.pods[i] = pod.DeepCopy()
						s.pods[i].DeletionTimestamp = &metav1.Time{Time: s.now}
					}
				}
				clear(s.let)
			},
			"recover": func(*rapid.T) {
				for i, pod := range s.pods {
					if !budget.Ready(pod) && budget.Active(pod) {
						s.pods[i] = pod.DeepCopy()
						s.pods[i].Status = newPod(pod.Name).Status
						if l := s.let[pod]; l.operation == v1alpha1.PubEvictOperation { // others are judged again
							s.let[s.pods[i]] = l
						}
						delete(s.let, pod)
					}
				}
			},
			"replace": func(*rapid.T) { // also before one that is marked is gone, and by the name of one that is
				var pods []*corev1.Pod
				for _, pod := range s.pods {
					if budget.Active(pod) {
						pods = append(pods, pod)
					}
				}
				for len(pods) < 6 {
					names++
					name := fmt.Sprintf("pod-%d", names%7)
					if slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return pod.Name == name }) {
						continue // there are no two of a name
					}
					pods = append(pods, newPod(name, annotate(v1alpha1.RelatedPubAnnotation, ""), func(pod *corev1.Pod) { pod.UID = types.UID(fmt.Sprint(names)) }))
				}
				s.pods = pods
			},
			"": func(t *rapid.T) {
				if s.available() < s.desired {
					t.Fatalf("%d available, %d desired; %v", s.available(), s.desired, s.budget.Status)
				}
			},
		})
	})
}
