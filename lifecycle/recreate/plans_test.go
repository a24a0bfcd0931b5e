// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/lifecycle/recreate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// TestPlans shows what is done about requests and said of them. The files in testdata/plans describe each in a line:
//
//	plan change… pod change…         the steps of a plan, and whether they are to be confirmed; "nopod" for none
//	status change… pod change…       the status that the first step writes
//	waits change…                    what is waited for
//	held-up change… pod change…      what holds it up
//	turn change… pod change…         whose turn it is
//	default change… pod change…      labels and spec of a new request once they are filled in
//	create change…                   what is said of a new request
//	create-for change… pod change…   and of its pod
//	update change… to change…        what is said of a change
//
// The changes are those of testdata/words.yaml.
func TestPlans(t *testing.T) {
	datadriven.Walk(t, "testdata/plans", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			of, then, pod := changesOf(d.CmdArgs), []string(nil), runningPod()
			if at := slices.IndexFunc(of, func(word string) bool { return word == "pod" || word == "nopod" || word == "to" }); at >= 0 {
				marker := of[at]
				of, then = of[:at], of[at+1:]
				switch marker {
				case "pod":
					pod = runningPod(then...)
				case "nopod":
					pod = nil
				}
			}
			var lines []string
			switch d.Cmd {
			case "plan":
				plan := planned(t, request(of...), pod)
				if lines = show(pod, plan); plan.Confirm {
					lines = append(lines, "to be confirmed")
				}
			case "status":
				status, err := yaml.Marshal(planned(t, request(of...), pod).Steps[0].Status)
				if err != nil {
					t.Fatal(err)
				}
				lines = []string{strings.TrimSpace(string(status))}
			case "turn":
				lines = []string{cmp.Or((&recreate.Snapshot{Request: request(of...), Pod: pod}).Turn(), "not that of the agent")}
			case "default":
				lines = []string{defaulted(t, newRequest(of...), pod)}
			case "waits":
				for _, wait := range planned(t, request(of...), pod).Waiting {
					if lines = append(lines, wait.String()); wait.Reason.Rule == "" || wait.Since.IsZero() || wait.Since.After(now) {
						t.Errorf("%s: it waits by the rule %q since %s", d.Pos, wait.Reason.Rule, wait.Since)
					}
				}
			case "held-up":
				for _, held := range planned(t, request(of...), pod).Held {
					lines = append(lines, fmt.Sprintf("%s: %s", held.Reason.Rule, held.String()))
				}
			case "create":
				lines = texts(recreate.ValidateCreate(newRequest(of...)))
			case "create-for":
				lines = texts(recreate.ValidatePod(newRequest(of...), pod))
			case "update":
				lines = texts(recreate.ValidateUpdate(request(then...), request(of...)))
			default:
				t.Fatalf("%s: unknown command %s", d.Pos, d.Cmd)
			}
			return strings.TrimPrefix(strings.Join(lines, "\n")+"\n", "\n")
		})
	})
}

// changesOf are the words of a command.
func changesOf(args []datadriven.CmdArg) (words []string) {
	for _, arg := range args {
		word := arg.Key
		if len(arg.Vals) > 0 {
			word += "=" + strings.Join(arg.Vals, ",")
		}
		words = append(words, word)
	}
	return words
}

// planned is a plan, each step of which says why. The request does not change.
func planned(t *testing.T, r *v1alpha1.ContainerRecreateRequest, pod *corev1.Pod) *recreate.Plan {
	before := r.DeepCopy()
	s := &recreate.Snapshot{Request: r, Pod: pod, Now: clockOf(t, before), Seen: ago(t, before, "seen"), Silent: ago(t, before, "silent")}
	plan := recreate.NewPlan(s)
	if s.Confirmed = true; recreate.NewPlan(s).Confirm {
		t.Error("it is to be confirmed once more")
	}
	if diff := gocmp.Diff(before, r); diff != "" {
		t.Errorf("the request was changed:\n%s", diff)
	}
	for _, step := range plan.Steps {
		if step.Why == "" {
			t.Errorf("a step does not say why: %+v", step)
		}
		if s := step.Status; s != nil && s.CompletionTime != nil && s.CompletionTime.Nanosecond() != 0 {
			t.Errorf("the time of the end is written as %s, of which the API server keeps whole seconds", s.CompletionTime)
		}
	}
	return plan
}

// clockOf is the time of a plan, in a zone of its own: a test's annotation says how late it is.
func clockOf(t *testing.T, r *v1alpha1.ContainerRecreateRequest) time.Time {
	return now.Add(patches.Duration(t, cmp.Or(r.Annotations["clock"], "0s"))).In(time.FixedZone("elsewhere", 2*60*60))
}

// ago is a time that a test's annotation says is so long ago.
func ago(t *testing.T, r *v1alpha1.ContainerRecreateRequest, key string) (at time.Time) {
	if text := r.Annotations[key]; text != "" {
		at = now.Add(-patches.Duration(t, text))
	}
	return at
}

// defaulted shows what is filled in. The pod does not change.
func defaulted(t *testing.T, r *v1alpha1.ContainerRecreateRequest, pod *corev1.Pod) string {
	before := pod.DeepCopy()
	recreate.Default(r, pod)
	if diff := gocmp.Diff(before, pod); diff != "" {
		t.Errorf("the pod was changed:\n%s", diff)
	}
	data, err := yaml.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// texts are the errors as a user reads them.
func texts(errs field.ErrorList) (out []string) {
	for _, err := range errs {
		out = append(out, err.Error())
	}
	return out
}

func TestNothingToPlanFor(t *testing.T) {
	for _, s := range []*recreate.Snapshot{nil, {}} {
		if plan := recreate.NewPlan(s); !reflect.DeepEqual(plan, &recreate.Plan{}) {
			t.Errorf("plan %+v, want none", plan)
		}
	}
}
