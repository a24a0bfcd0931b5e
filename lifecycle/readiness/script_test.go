// SPDX-License-Identifier: Apache-2.0

package readiness_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

var (
	now = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	// words are those of testdata/words.yaml.
	words = patches.Read("testdata/words.yaml", now)
)

const (
	keyA = `{"userAgent":"ContainerRecreateRequest","key":"shop/restart"}`
	keyB = `{"userAgent":"Lifecycle","key":"preDeleteHook"}`
)

// keys are the reasons for which pods of scripts are out of service, by their short names.
var (
	keys = map[string]string{
		"A": keyA, "B": keyB,
		"C": `{"userAgent":"Lifecycle","key":"preUpdateHook"}`, "O": `{"userAgent":"Other","key":"preUpdateHook"}`,
		"escaped": `{"userAgent":"a<b","key":"c\"d"}`,
	}

	written = strings.NewReplacer("«A»", keys["A"], "«B»", keys["B"], "«C»", keys["C"], "«O»", keys["O"])
	short   = strings.NewReplacer(keys["A"], "«A»", keys["B"], "«B»", keys["C"], "«C»", keys["O"], "«O»")
)

// serving is a pod in service, changed by words.
func serving(changes ...string) *corev1.Pod {
	return patches.Changed(words, &corev1.Pod{}, append([]string{"serving"}, changes...)...)
}

// script is a pod, and what is to be patched about it.
type script struct {
	*testing.T
	pod   *corev1.Pod
	patch *podpatch.Patch
}

// TestScripts shows what is patched about a pod. The lines that follow a command are words about a new pod. «A» stands for a key, and what a
// script has no pod for goes on with that before, and with its patch.
//
//	add, remove A    puts a key into the condition, or takes it out
//	initial          opens the gate of a new pod
//	withdraw [H=False]
//	                 takes the pod out of service, perhaps by a gate that the patch closes
//	apply            sends the patch, and shows whether the pod is in service
//	writes           shows the requests that the patch is
//	gate, inject     add the gate, also with all
//	ready min=10     shows whether it is ready, and for so long
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		s := &script{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if s.T = t; d.Input != "" || s.pod == nil {
				s.pod, s.patch = serving(strings.FieldsFunc(written.Replace(d.Input), func(r rune) bool { return r == '\n' })...), &podpatch.Patch{}
			}
			before := s.pod.DeepCopy()
			out := s.do(d)
			if diff := cmp.Diff(before, s.pod); diff != "" && d.Cmd != "gate" && d.Cmd != "inject" && d.Cmd != "apply" {
				t.Errorf("%s: the pod was changed:\n%s", d.Pos, diff)
			}
			return short.Replace(out)
		})
	})
}

func (s *script) do(d *datadriven.TestData) string {
	switch d.Cmd {
	case "add":
		return s.change(readiness.Add, d)
	case "remove":
		return s.change(readiness.Remove, d)
	case "initial":
		return s.changes(readiness.Initial(s.patch, s.pod, now))
	case "withdraw":
		for _, arg := range d.CmdArgs {
			closed := corev1.PodCondition{Type: corev1.PodConditionType(arg.Key), Status: corev1.ConditionStatus(arg.Vals[0])}
			closed.LastTransitionTime = metav1.NewTime(now)
			s.patch.SetCondition(closed)
		}
		readiness.Withdraw(s.patch, s.pod, now)
		return s.changes(len(s.patch.Conditions) > 0)
	case "apply":
		s.pod, s.patch = s.applied(), &podpatch.Patch{}
		c := readiness.Condition(s.pod, v1alpha1.KruisePodReady)
		return fmt.Sprintf("%s %s, ready %t\n", c.Status, c.Message, readiness.Ready(s.pod))
	case "writes":
		writes, err := s.patch.Writes(s.pod)
		if err != nil {
			s.Fatal(err)
		}
		var out string
		for _, write := range writes {
			out += write.Subresource + " " + string(write.Data) + "\n"
		}
		return out
	case "gate":
		readiness.AddGate(&s.pod.Spec, v1alpha1.KruisePodReady)
		return fmt.Sprintf("%v, has it: %t\n", s.pod.Spec.ReadinessGates, readiness.HasGate(s.pod, v1alpha1.KruisePodReady))
	case "inject":
		changed := readiness.InjectGate(s.pod, d.HasArg("all"))
		return fmt.Sprintf("%v, changed: %t\n", s.pod.Spec.ReadinessGates, changed)
	case "ready":
		seconds := patches.Number(s.T, d.CmdArgs[0].Vals[0])
		wait, waits := readiness.ReadyIn(s.pod, int32(seconds), now)
		return fmt.Sprintf("%t, so long: %t, in %s %t\n", readiness.Ready(s.pod), readiness.ReadyFor(s.pod, int32(seconds), now), wait, waits)
	}
	s.Fatalf("%s: unknown command %s", d.Pos, d.Cmd)
	return ""
}

// change changes the keys. What is done again changes nothing.
func (s *script) change(change func(*podpatch.Patch, *corev1.Pod, readiness.Key, time.Time) bool, d *datadriven.TestData) string {
	var key readiness.Key
	if err := json.Unmarshal([]byte(keys[d.CmdArgs[0].Key]), &key); err != nil {
		s.Fatalf("%s: %v", d.Pos, err)
	}
	out := s.changes(change(s.patch, s.pod, key, now))
	if change(&podpatch.Patch{}, s.applied(), key, now) {
		s.Errorf("%s: PR-E3: once more changes something", d.Pos)
	}
	return out
}

// changes shows the conditions of the patch, which are of now.
func (s *script) changes(changed bool) string {
	if changed != (len(s.patch.Conditions) > 0) {
		s.Errorf("it says that it has changed something: %t, of %d conditions", changed, len(s.patch.Conditions))
	}
	var lines []string
	for _, c := range s.patch.Conditions {
		if !c.LastTransitionTime.Time.Equal(now) {
			s.Errorf("condition %s has the time %v", c.Type, c.LastTransitionTime)
		}
		lines = append(lines, strings.Join(strings.Fields(fmt.Sprintln(c.Type, c.Status, c.Reason, c.Message)), " "))
	}
	if s.patch.IfUnchanged {
		lines = append(lines, "if the pod has not changed")
	}
	return strings.Join(append(lines, ""), "\n")
}

func (s *script) applied() *corev1.Pod {
	after, err := s.patch.Apply(s.pod)
	if err != nil {
		s.Fatal(err)
	}
	return after
}
