// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// budgetRow is a case of a judge of budgets, and what it may know. A budget and a pod are words of testdata/words.yaml.
type budgetRow struct {
	Budgets, Pods, Booked                  []string
	Set, Marked, Cached                    string
	After                                  int // seconds
	Allowed, DryRun, Shared, Itself, Alone bool
}

// TestBudgets shows what judges say of bookings, and of answers of webhooks about pods of a budget.
func TestBudgets(t *testing.T) {
	played := map[string]func(*budgetRow) []Violation{
		"answers": (*budgetRow).answered, "bookings": (*budgetRow).booked, "since": (*budgetRow).bookedSince,
		"successors": (*budgetRow).succeeded, "resizes": (*budgetRow).resized,
	}
	blank := func() budgetRow { return budgetRow{Budgets: []string{"0"}} }
	patches.PlayRows(t, "testdata/budgets", blank, func(_ *testing.T, command string, row *budgetRow) string {
		var lines []string
		for _, v := range played[command](row) {
			lines = append(lines, v.String())
		}
		return strings.Join(lines, "\n")
	})
}

// budgetOfFour is a budget of which a word says first how many unavailable pods it allows.
func budgetOfFour(words string) *podBudget { return made[podBudget](strings.Fields("new=" + words)...) }

// budgetPod is a pod that serves, and knows its budget.
func budgetPod(name, words string) *corev1.Pod {
	return made[corev1.Pod](append([]string{"new=" + name + ":a", "told"}, strings.Fields(words)...)...)
}

// five pods serve.
var five = make([]string, 5)

// counting is a state with pods of a CloneSet that wants four. They are called by the letters.
func counting(set string, pods ...string) *State {
	state := &State{Now: testTime, Version: 2, Pods: map[string]*corev1.Pod{}, Workload: budgetOfFour("0 version=2 blank")}
	for i, words := range pods {
		name := string(rune('a' + i))
		state.Pods[name] = budgetPod(name, words)
	}
	state.Beside = map[string]Object{"clonesets": made[v1alpha1.CloneSet](append([]string{"new=4"}, strings.Fields(set)...)...)}
	return state
}

// budgetWrite is a write of the status of a budget.
func budgetWrite(by string, before, after Object, truth *State) *Write {
	return &Write{By: by, Verb: "patch", Resource: budgetResource, Subresource: "status", Before: before, After: after, Truth: truth, Known: truth, Observed: truth}
}

// pastCounting is a past in which a controller has counted pods.
func pastCounting(state *State) *Past {
	past := NewPast()
	past.Budget(budgetWrite("", state.Workload, budgetOfFour("0"), state))
	return past
}

// answer is that of a webhook about a pod, by the versions of the pod and of its budget.
func (r *budgetRow) answer(name string, pods, budgets []Object) *Answer {
	a := &Answer{By: "webhook", For: "user", Operation: "EVICT", Name: name, Budget: "web", Version: 3, Allowed: r.Allowed, DryRun: r.DryRun, Shared: r.Shared}
	a.Began, a.Ended = testTime, testTime.Add(time.Duration(r.After)*time.Second)
	a.Truth = func(resource, _ string) []Object {
		return map[string][]Object{"pods": pods, budgetResource: budgets}[resource]
	}
	a.Cached = a.Truth
	return a
}

// versions are those of pod a and of the budget.
func (r *budgetRow) versions() (pods, budgets []Object) {
	for _, words := range r.Pods {
		pods = append(pods, budgetPod("a", words))
	}
	for _, words := range r.Budgets {
		var budget Object
		if words != "gone" {
			budget = budgetOfFour(words)
		}
		budgets = append(budgets, budget)
	}
	return pods, budgets
}

func (r *budgetRow) answered() []Violation {
	past := pastCounting(counting("", five...))
	pods, budgets := r.versions()
	if i := slices.IndexFunc(r.Budgets, func(words string) bool { return strings.Contains(words, "booked") }); i >= 0 {
		truth := &State{Now: testTime, Version: 4, Pods: map[string]*corev1.Pod{"a": pods[0].(*corev1.Pod)}}
		past.BudgetWitness(budgetWrite("webhook", budgetOfFour("1"), budgets[i], truth))
	}
	a := r.answer("a", pods, budgets)
	if !r.Allowed {
		a.Denial = &metav1.Status{Code: http.StatusTooManyRequests, Details: &metav1.StatusDetails{
			RetryAfterSeconds: 5, Causes: []metav1.StatusCause{{Type: policyv1.DisruptionBudgetCause}}}}
	}
	if r.Cached != "" {
		a.Cached = r.answer("a", append([]Object{budgetPod("a", r.Cached)}, pods...), budgets).Truth
	}
	if a.Itself = r.Itself; r.Itself {
		a.Operation = "UPDATE"
	}
	return past.BudgetAnswer(a, BudgetFeatures{})
}

func (r *budgetRow) booked() (all []Violation) {
	state := counting("", r.Pods...)
	past := pastCounting(state)
	if pod := state.Pods[r.Marked]; pod != nil {
		past.Observe(&Change{Resource: "pods", Before: pod, After: patches.Changed(testWords, pod, "specified")})
	}
	before, words := budgetOfFour("1"), "1"
	for i, name := range r.Booked {
		words += fmt.Sprint(" booked=", name, " version=", 4+i)
		after := budgetOfFour(words)
		all = append(all, past.BudgetWitness(budgetWrite("webhook", before, after, state))...)
		a := r.answer(name, []Object{state.Pods[name]}, []Object{before, after})
		a.Allowed, a.Version = true, 2
		all = append(all, past.BudgetAnswer(a, BudgetFeatures{})...)
		before = after
	}
	return all
}

func (r *budgetRow) bookedSince() []Violation {
	state := counting("", five...)
	return pastCounting(state).BudgetWitness(budgetWrite("webhook", budgetOfFour(r.Budgets[0]), budgetOfFour(r.Budgets[1]), state))
}

func (r *budgetRow) succeeded() []Violation {
	state := counting(r.Set, r.Pods...)
	return NewPast().Budget(budgetWrite("", state.Workload, budgetOfFour("0 blank total=9"), state))
}

func (r *budgetRow) resized() []Violation {
	pods, budgets := r.versions()
	a := r.answer("a", pods[:1], budgets)
	a.Operation, a.Allowed, a.After = "UPDATE", true, pods[1]
	return pastCounting(counting("", five...)).BudgetAnswer(a, BudgetFeatures{Updates: true, ResizesAlone: r.Alone})
}
