// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestZones plays subsets whose nodes are full, in testdata/zones, with workloads of each kind, or of=(Kind,…). Each story has a cluster of its own,
// with the option AdaptiveScheduling. Lines of the spec come first, and then a step a line: those of TestScripts, with what follows them behind ": ",
// and these. What is shown must be the same for all kinds; if it is not, each says its own.
//
//	room a [3]     gives a subset nodes for so many pods, or for all
//	evict a 3      and deletes its pods beyond it
//	slow a, fast a pods that run there stay unready, or do not
//	lose a 2       the oldest pods of a subset are gone
//	pod a 3 [status]: patch
//	               changes the pod of that place, from 0, by a strategic merge patch
//	wait 1m        lets time go by, while the controllers of the workloads work once a second
//	zones          shows how many pods of a subset are ready, of those that it is to have
//	after 1m       both
//	conditions     of the subsets
func TestZones(t *testing.T) {
	datadriven.Walk(t, "testdata/zones", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			of := kinds
			if d.HasArg("of") {
				of = nil
				for _, kind := range d.CmdArgs[0].Vals {
					of = append(of, TemplateKind(kind))
				}
			}
			var shown []string
			for _, kind := range of {
				shown = append(shown, inZones(t, kind, d))
			}
			if len(slices.Compact(slices.Clone(shown))) == 1 {
				return shown[0]
			}
			var out strings.Builder
			for i, kind := range of {
				fmt.Fprintf(&out, "%s:\n%s", kind, shown[i])
			}
			return out.String()
		})
	})
}

// inZones plays a story.
func inZones(t *testing.T, kind TemplateKind, d *datadriven.TestData) string {
	var out strings.Builder
	play(t, func(w *cluster) {
		w.features.AdaptiveScheduling = true
		w.stop()
		w.start()
		var spec []string
		for line := range strings.Lines(d.Input) {
			step, input, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			words := strings.Fields(step)
			if len(words) == 1 && strings.Contains(line, ": ") && step != "edit" {
				spec = append(spec, line)
				continue
			}
			if spec != nil {
				w.kind = kind
				w.Create(newSetOf(w.T, kind, strings.Join(spec, "")), "")
				spec = nil
			}
			command := &datadriven.TestData{Cmd: words[0], Input: input, Pos: d.Pos}
			for _, word := range words[1:] {
				command.CmdArgs = append(command.CmdArgs, datadriven.CmdArg{Key: word})
			}
			w.trace.Take()
			if !w.command(command) {
				d.Fatalf(t, "no step %s", step)
			}
			if slices.Contains([]string{"after", "zones", "conditions", "status"}, words[0]) {
				fmt.Fprintf(&out, "%s: %s\n", step, strings.Join(slices.DeleteFunc(w.trace.Take(), notShown), "; "))
			}
		}
	})
	return out.String()
}

// notShown tells which lines are writes and events.
func notShown(line string) bool {
	first, _, _ := strings.Cut(line, " ")
	return slices.Contains([]string{"create", "patch", "delete", "Normal", "Warning"}, first)
}

// adapt does what a line of a script says about subsets whose nodes are full.
func (w *cluster) adapt(command string, words []string, input string) bool {
	switch command {
	case "after", "wait":
		for range int(patches.Duration(w.T, words[0]).Seconds()) {
			w.work(1)
			reportUnschedulable(w.Cluster)
		}
		if command == "after" {
			w.zones()
		}
	case "room", "evict":
		if delete(w.room, words[0]); len(words) > 1 {
			w.room[words[0]] = patches.Number(w.T, words[1])
		}
		for i, pod := range w.placed(words[0]) {
			if command == "evict" && i >= w.room[words[0]] {
				w.RemovePod(pod.Name)
			}
		}
	case "slow", "fast":
		w.slow[words[0]] = command == "slow"
	case "lose":
		for _, pod := range w.of(words[0])[:patches.Number(w.T, words[1])] {
			w.RemovePod(pod.Name)
		}
	case "pod":
		w.PatchPod(w.of(words[0])[patches.Number(w.T, words[1])].Name, string(toJSON(w.T, input)), words[2:]...)
	case "zones":
		w.zones()
	case "conditions":
		for _, s := range setOf(w.Cluster, "web").Status.SubsetStatuses {
			for _, c := range s.Conditions {
				line := fmt.Sprintf("%s %s=%s since %s %s: %s", s.Name, c.Type, c.Status, c.LastTransitionTime.UTC().Format("15:04:05"), c.Reason, c.Message)
				w.trace.Note(strings.TrimRight(line, " :"))
			}
		}
	default:
		return false
	}
	return true
}

// of returns the pods of a subset, by name.
func (w *cluster) of(subset string) []corev1.Pod {
	return slices.DeleteFunc(w.Pods(), func(pod corev1.Pod) bool { return pod.Labels[v1alpha1.SubsetNameLabel] != subset })
}

// placed returns the pods of a subset that have nodes.
func (w *cluster) placed(subset string) []corev1.Pod {
	return slices.DeleteFunc(w.of(subset), func(pod corev1.Pod) bool { return pod.Spec.NodeName == "" })
}

// schedule finds a node for a pod if its subset has room.
func (w *cluster) schedule(pod *corev1.Pod) string {
	subset := pod.Labels[v1alpha1.SubsetNameLabel]
	if room, limited := w.room[subset]; limited && len(w.placed(subset)) >= room {
		return ""
	}
	return "node-" + pod.Name
}

// kubelets run the pods. In slow subsets those that are not ready yet stay so.
func (w *cluster) kubelets() {
	for _, pod := range w.Pods() {
		synctest.Wait() // the controller writes nothing meanwhile
		w.Kubelet.Unready = func(string) bool { return w.slow[pod.Labels[v1alpha1.SubsetNameLabel]] && !readiness.Ready(&pod) }
		w.Must(w.Kubelet.Sync(w.T.Context(), pod.Namespace, pod.Name))
	}
	synctest.Wait()
}

// reportUnschedulable has the scheduler report which pods find no nodes.
func reportUnschedulable(c *fixture.Cluster) {
	for _, pod := range c.Pods() {
		if pod.Spec.NodeName == "" && !lifecycle.Unschedulable(&pod) {
			c.PatchPod(pod.Name, `{"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable"}]}}`, "status")
		}
	}
}

// zones shows the subsets.
func (w *cluster) zones() {
	closed := map[string]string{}
	for _, s := range setOf(w.Cluster, "web").Status.SubsetStatuses {
		for _, c := range s.Conditions {
			if c.Status == corev1.ConditionFalse {
				closed[s.Name] = ", " + c.Reason
			}
		}
	}
	for _, c := range workloadsOf(w.Cluster, w.kind) {
		ready, reserved := 0, 0
		for _, pod := range w.of(c.subset()) {
			if readiness.Ready(&pod) {
				ready++
			}
			if pod.Labels[v1alpha1.ReservedPodLabel] == "true" {
				reserved++
			}
		}
		text := fmt.Sprintf("%s: %d of %d", c.subset(), ready, c.Spec.Replicas)
		if reserved > 0 {
			text += fmt.Sprintf(", %d reserved", reserved)
		}
		w.trace.Note(text + closed[c.subset()])
	}
}
