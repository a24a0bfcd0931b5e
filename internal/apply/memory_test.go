// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
)

// memory is what a Writer remembers of updates of the workload web that were refused, and of those that budgets have denied. Its pods
// are a and b, which are ready, c, which is not, and d, which names no budget. The pod e is ready and names another budget.
type memory struct {
	*testing.T
	Writer
	set        *metav1.ObjectMeta
	pods       []*corev1.Pod
	begin, now time.Time
	out        []string
}

func newMemory(t *testing.T) *memory {
	m := &memory{T: t, set: &metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "web", Generation: 1}, begin: time.Unix(1000, 0)}
	m.now = m.begin
	for _, of := range []struct{ name, budget string }{{"a", "pub"}, {"b", "pub"}, {"c", "pub"}, {"d", ""}, {"e", "other"}} {
		pod := pod(of.name)
		pod.UID, pod.Status.Phase = types.UID("uid-"+of.name), corev1.PodRunning
		if of.budget != "" {
			pod.Annotations = map[string]string{availabilityv1alpha1.RelatedPubAnnotation: of.budget}
		}
		m.pods = append(m.pods, pod)
		if of.name != "c" {
			m.step("ready", of.name)
		}
	}
	return m
}

// play plays steps, and shows what is remembered in the end:
//
//	deny a, allow a          a budget answers about the update of a pod
//	refuse a b, serve a      the API server answers updates, and with "end a ERROR" so; a resize may be unsupported-resize or refused-resize
//	refused 5 times a b      refuses them that often, each time when the wait is over, and shows how long it waits then
//	wait                     until the wait is over
//	sleep 1h                 or for so long
//	ready a, move a, replace a
//	                         a pod becomes ready, has another revision, or another pod has its name
//	keep b e                 all other pods go
//	edit, recreate, forget   the workload changes, another one has its name, or nothing is remembered of it
//	show                     shows what is remembered
func (m *memory) play(steps []string) string {
	for _, step := range append(steps, "show") {
		words := strings.Fields(step)
		m.step(words[0], words[1:]...)
	}
	return strings.Join(m.out, "\n")
}

func (m *memory) step(verb string, words ...string) {
	switch verb {
	case "deny", "allow":
		m.denials.answered(m.set, m.pod(words[0]), m.now, verb == "allow")
	case "refuse":
		for _, name := range words {
			m.step("end", name, "refused")
		}
	case "serve":
		m.end(words[0], nil)
	case "end":
		m.end(words[0], errorOf(words[1]))
	case "refused":
		var times int
		fmt.Sscan(words[0], &times)
		var waits []string
		for range times {
			m.step("wait")
			m.step("refuse", words[2:]...)
			waits = append(waits, m.waits().String())
		}
		m.out = append(m.out, "waits "+strings.Join(waits, ", "))
	case "wait":
		m.now = m.now.Add(max(m.waits(), 0))
	case "sleep":
		d, err := time.ParseDuration(words[0])
		if m.now = m.now.Add(d); err != nil {
			m.Fatal(err)
		}
	case "ready":
		m.pod(words[0]).Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	case "move":
		m.pod(words[0]).Labels = map[string]string{podplan.RevisionLabel: "web-2"}
	case "replace":
		m.pod(words[0]).UID = "another"
	case "keep":
		m.pods = slices.DeleteFunc(m.pods, func(pod *corev1.Pod) bool { return !slices.Contains(words, pod.Name) })
	case "edit":
		m.set.Generation++
	case "recreate":
		m.set.UID = "another"
	case "forget":
		m.Forget(keyOf(m.set))
	case "show":
		shown := m.shown()
		if again := m.shown(); !slices.Equal(again, shown) {
			m.Errorf("to look changes what is remembered: %q, then %q", shown, again)
		}
		m.out = append(m.out, shown...)
	default:
		m.Fatalf("no step %s", verb)
	}
}

func (m *memory) pod(name string) *corev1.Pod {
	return m.pods[slices.IndexFunc(m.pods, func(pod *corev1.Pod) bool { return pod.Name == name })]
}

func (m *memory) end(name string, err error) {
	m.refusals.ended(m.set, m.pod(name), m.version(m.pod(name)), m.now, err)
}

func (m *memory) waits() time.Duration {
	if until := m.refused(m.set, m.pods, m.now).Until; !until.IsZero() {
		return until.Sub(m.now)
	}
	return 0
}

func (m *memory) shown() (out []string) {
	r := m.Refused(m.set, m.pods, m.now)
	if wait := r.Until.Sub(m.now); wait > 0 {
		out = append(out, "waits "+wait.String())
	}
	for _, pod := range m.pods {
		if err := r.Pods[pod.UID]; err != nil {
			out = append(out, fmt.Sprintf("%s was refused after %s: %v", pod.Name, r.At[pod.UID].Sub(m.begin), err))
		}
		if denial, found := r.Denied[pod.UID]; found {
			out = append(out, fmt.Sprintf("%s is protected by %s after %s%s", pod.Name, cmp.Or(denial.Budget, "a budget"), denial.Since.Sub(m.begin), m.asked(denial)))
		}
	}
	if r.Err != nil {
		out = append(out, "in short: "+r.Err.Error())
	}
	return out
}

func (m *memory) asked(denial rollout.Denial) string {
	if denial.Asked.IsZero() {
		return ", and was not asked about"
	}
	return ", and was asked about after " + denial.Asked.Sub(m.begin).String()
}
