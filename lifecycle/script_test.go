// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// keyNames are short names of the reasons for which a pod is out of service.
var keyNames = strings.NewReplacer(deleteKey, "delete", updateKey, "update", otherKey, "other")

// TestScripts shows what a step changes about a pod. The steps are "delete", "cancel" (a deletion), "update" and "refresh". With "target"
// a pod has the update revision, and with "complete" its update in place is complete. The first line is the pod, by its state or "-".
// Further words are labels that it has (a), finalizer=f, specified (for deletion), leaving, unready, gate and no-gate. out=other,update
// are the reasons for which it is out of service. The second line has the hooks: "preDelete a finalizer=f; inPlaceUpdate b unready". The
// last word marks pods as not ready. "none" stands for no lifecycle, and "empty" for one without hooks.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			first, second, _ := strings.Cut(d.Input, "\n")
			pod, l := podOf(t, strings.Fields(first)), lifecycleOf(second)
			unchanged := pod.DeepCopy()
			var p podpatch.Patch
			out := ""
			switch d.Cmd {
			case "delete":
				now, reason := lifecycle.BeginDelete(&p, pod, l, now)
				out = fmt.Sprintf("now %t: %s\n", now, reason)
			case "cancel":
				cancelled := lifecycle.CancelDelete(&p, pod, l, now)
				out = fmt.Sprintln(cancelled)
				if cancelled {
					reachesNormal(t, apply(t, &p, pod), l)
				}
			case "update":
				step, reason := lifecycle.BeginUpdate(&p, pod, l, false, now)
				out = fmt.Sprintf("%s: %s\n", step, reason)
			case "refresh":
				in := lifecycle.RefreshInput{AtTarget: d.HasArg("target"), InPlaceComplete: d.HasArg("complete")}
				if got, want := lifecycle.Refresh(&p, pod, l, in, now), !cmp.Equal(changed(t, &p), change{}); got != want {
					t.Errorf("%s: result %t, want %t", d.Pos, got, want)
				}
				after := apply(t, &p, pod)
				if lifecycle.Refresh(&podpatch.Patch{}, after, l, in, now) {
					t.Errorf("%s: refreshing again changes the pod in state %q", d.Pos, lifecycle.StateOf(after))
				}
			}
			if diff := cmp.Diff(unchanged, pod); diff != "" {
				t.Errorf("%s: the pod was changed:\n%s", d.Pos, diff)
			}
			apply(t, &p, pod)
			return strings.ReplaceAll(out, ": \n", "\n") + changed(t, &p).String()
		})
	})
}

// reachesNormal has a pod that is not to be deleted any more reach Normal. (LC-14, LC-8)
func reachesNormal(t *testing.T, pod *corev1.Pod, l *v1alpha1.Lifecycle) {
	t.Helper()
	var refresh podpatch.Patch
	lifecycle.Refresh(&refresh, pod, l, lifecycle.RefreshInput{}, now)
	if state := lifecycle.StateOf(apply(t, &refresh, pod)); state != normal {
		t.Errorf("LC-14: the pod reaches %s, want Normal", state)
	}
}

func (c change) String() (out string) {
	if c.State != "" {
		out += fmt.Sprintf("state %s\n", c.State)
	}
	if c.InService != "" {
		out += fmt.Sprintf("in service %s\n", keyNames.Replace(c.InService))
	}
	for _, key := range slices.Sorted(maps.Keys(c.Labels)) {
		out += fmt.Sprintf("label %s=%s\n", key, c.Labels[key])
	}
	for _, finalizer := range c.Finalizers {
		out += fmt.Sprintf("finalizer %s\n", finalizer)
	}
	return out
}

// podOf reads a pod.
func podOf(t *testing.T, words []string) *corev1.Pod {
	t.Helper()
	pod := newPod(v1alpha1.StateType(strings.TrimPrefix(words[0], "-")))
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "a", "b":
			pod.Labels[key] = "true"
		case "finalizer":
			finalizer(value)(pod)
		case "specified":
			pod.Labels[v1alpha1.SpecifiedDeleteLabel] = ""
		case "leaving":
			pod.DeletionTimestamp = &pod.Status.Conditions[0].LastTransitionTime
		case "unready":
			condition(corev1.PodReady, "False")(pod)
		case "gate":
			gate(pod)
		case "out":
			outOfService(strings.NewReplacer("delete", deleteKey, "update", updateKey, "other", otherKey).Replace(value))(pod)
		case "no-gate":
			pod.Spec.ReadinessGates = nil
		default:
			t.Fatalf("unknown word %q of a pod", word)
		}
	}
	return pod
}

// lifecycleOf reads hooks.
func lifecycleOf(text string) *v1alpha1.Lifecycle {
	if text == "none" {
		return nil
	}
	l := &v1alpha1.Lifecycle{}
	for part := range strings.SplitSeq(text, "; ") {
		words := strings.Fields(part)
		h := &v1alpha1.LifecycleHook{}
		for _, word := range words[1:] {
			if f, is := strings.CutPrefix(word, "finalizer="); is {
				h.FinalizersHandler = append(h.FinalizersHandler, f)
			} else if word == "unready" {
				h.MarkPodNotReady = true
			} else if h.LabelsHandler == nil {
				h.LabelsHandler = map[string]string{word: "true"}
			} else {
				h.LabelsHandler[word] = "true"
			}
		}
		switch words[0] {
		case "preDelete":
			l.PreDelete = h
		case "inPlaceUpdate":
			l.InPlaceUpdate = h
		case "preNormal":
			l.PreNormal = h
		}
	}
	return l
}
