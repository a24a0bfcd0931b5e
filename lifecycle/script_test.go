// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// keyNames are short names of the reasons for which a pod is out of service.
var (
	keyNames = strings.NewReplacer(deleteKey, "delete", updateKey, "update", otherKey, "other")
	longKeys = strings.NewReplacer("out=delete", "out="+deleteKey, "out=update", "out="+updateKey, "out=other", "out="+otherKey,
		",delete", ","+deleteKey, ",update", ","+updateKey)
)

// TestScripts shows what a step changes about a pod. The steps are "delete", "cancel" (a deletion), "update" and "refresh". With "target"
// a pod has the update revision, and with "complete" its update in place is complete. The first line is the pod, by its state or "-", and words
// of testdata/words.yaml. out=other,update are the reasons for which it is out of service. The second line has the hooks. Other commands show what
// is known of a pod, the metadata of a new one of an "initial" state, and the requests of "state".
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "cancel-needed" {
				return fmt.Sprintln(lifecycle.CancelNeeded(number(t, d, 0), number(t, d, 1), number(t, d, 2)))
			}
			first, second, _ := strings.Cut(d.Input, "\n")
			pod, l := newPod(strings.Fields(longKeys.Replace(first))...), lifecycleOf(t, second)
			if out := known(t, d, pod, l); out != "" {
				return out
			}
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
				step, reason := lifecycle.BeginUpdate(&p, pod, l, d.HasArg("target"), now)
				out = fmt.Sprintf("%s: %s\n", step, reason)
			case "refresh-update":
				lifecycle.Refresh(&p, pod, l, lifecycle.RefreshInput{InPlaceComplete: true}, now)
				step, _ := lifecycle.BeginUpdate(&p, pod, l, false, now)
				out = fmt.Sprintln(step)
			case "refresh":
				in := lifecycle.RefreshInput{AtTarget: d.HasArg("target"), InPlaceComplete: d.HasArg("complete")}
				if got, want := lifecycle.Refresh(&p, pod, l, in, now), changed(t, &p) != ""; got != want {
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
			return strings.ReplaceAll(out, ": \n", "\n") + changed(t, &p)
		})
	})
}

// known shows what is known of a pod, and the requests that give it another state. It is empty for other commands.
func known(t *testing.T, d *datadriven.TestData, pod *corev1.Pod, l *v1alpha1.Lifecycle) string {
	switch d.Cmd {
	case "hooked":
		return fmt.Sprintf("any %t, all %t\n", lifecycle.HookedAny(l.PreDelete, pod), lifecycle.HookedAll(l.PreDelete, pod))
	case "available":
		least := int32(number(t, d, 0))
		wait, waits := lifecycle.AvailableIn(pod, least, now)
		return fmt.Sprintf("available %t, in %s %t, ready %t\n", lifecycle.Available(pod, least, now), wait, waits, lifecycle.Ready(pod))
	case "unschedulable":
		return fmt.Sprintln(lifecycle.Unschedulable(pod))
	case "unbound":
		return fmt.Sprintln(lifecycle.Unbound(pod, l))
	case "awaits-eviction":
		return fmt.Sprintln(lifecycle.AwaitsEviction(pod, now))
	case "initial":
		lifecycle.SetInitialState(&pod.ObjectMeta, v1alpha1.StateType(d.CmdArgs[0].Key), now)
		return fmt.Sprintf("labels %v, annotations %v\n", pod.Labels, pod.Annotations)
	case "state":
		var p podpatch.Patch
		for i, state := range d.CmdArgs {
			lifecycle.SetState(&p, pod, v1alpha1.StateType(state.Key), []time.Time{before, now}[i+2-len(d.CmdArgs)])
		}
		writes, err := p.Writes(pod)
		if err != nil {
			t.Fatal(err)
		}
		out := fmt.Sprintf("%d requests\n", len(writes))
		for _, w := range writes {
			out += w.Subresource + string(w.Data) + "\n"
		}
		return out
	}
	return ""
}

// number is an argument, 0 if there is none.
func number(t *testing.T, d *datadriven.TestData, i int) int {
	t.Helper()
	if i >= len(d.CmdArgs) {
		return 0
	}
	return patches.Number(t, strings.TrimPrefix(d.CmdArgs[i].String(), "min="))
}

// reachesNormal has a pod that is not to be deleted any more reach Normal. (LC-14, LC-8)
func reachesNormal(t *testing.T, pod *corev1.Pod, l *v1alpha1.Lifecycle) {
	t.Helper()
	var refresh podpatch.Patch
	lifecycle.Refresh(&refresh, pod, l, lifecycle.RefreshInput{}, now)
	if state := lifecycle.StateOf(apply(t, &refresh, pod)); state != v1alpha1.StateNormal {
		t.Errorf("LC-14: the pod reaches %s, want Normal", state)
	}
}
