// SPDX-License-Identifier: Apache-2.0

package nodepodprobe

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// now is the time of all snapshots.
var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// words are those of testdata/words.yaml.
var words = patches.Read("testdata/words.yaml", now)

// newNode returns node-1, which is ready, changed by words.
func newNode(changes ...string) *corev1.Node {
	return patches.Changed(words, &corev1.Node{}, append([]string{"ready"}, changes...)...)
}

// newPod returns a pod of the namespace shop on node-1 that is initialized, with the UID uid-NAME. Words change it.
func newPod(name string, changes ...string) *corev1.Pod {
	pod := patches.Changed(words, &corev1.Pod{}, append([]string{"initialized", "uid=uid-" + name}, changes...)...)
	pod.Name = name
	return pod
}

// newMarker returns a marker of the namespace shop that selects app=web.
func newMarker(name string, probes ...v1alpha1.PodContainerProbe) *v1alpha1.PodProbeMarker {
	return &v1alpha1.PodProbeMarker{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-" + name), Generation: 1},
		Spec:       v1alpha1.PodProbeMarkerSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, Probes: probes},
	}
}

// newProbe returns a probe of the container main that gives a condition, unless the type is empty.
func newProbe(name, conditionType string, policies ...v1alpha1.ProbeMarkerPolicy) v1alpha1.PodContainerProbe {
	return v1alpha1.PodContainerProbe{Name: name, ContainerName: "main", PodConditionType: conditionType, MarkerPolicy: policies, Probe: exec("/" + name)}
}

func exec(command ...string) corev1.Probe {
	return corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: command}}}
}

// sets is a policy with labels, as key=value.
func sets(state v1alpha1.ProbeState, pairs ...string) v1alpha1.ProbeMarkerPolicy {
	p := v1alpha1.ProbeMarkerPolicy{State: state, Labels: map[string]string{}}
	for _, pair := range pairs {
		key, value, _ := strings.Cut(pair, "=")
		p.Labels[key] = value
	}
	return p
}

// newProbes returns the NodePodProbe of node-1.
func newProbes(pods ...v1alpha1.PodProbe) *v1alpha1.NodePodProbe {
	return &v1alpha1.NodePodProbe{ObjectMeta: metav1.ObjectMeta{Name: "node-1", UID: "uid"}, Spec: v1alpha1.NodePodProbeSpec{PodProbes: pods}}
}

// probed is the entry of a pod, perhaps "namespace/name", with probes of the container main, and perhaps "at" an address. Each runs what its own name says.
func probed(pod string, names ...string) v1alpha1.PodProbe {
	namespace, name, found := strings.Cut(pod, "/")
	if !found {
		namespace, name = "shop", pod
	}
	p := v1alpha1.PodProbe{Namespace: namespace, Name: name, UID: types.UID("uid-" + name)}
	for i, probe := range names {
		if probe == "at" {
			p.IP = names[i+1]
			break
		}
		_, own, _ := v1alpha1.SplitProbeName(probe)
		p.Probes = append(p.Probes, v1alpha1.ContainerProbe{Name: probe, ContainerName: "main", Probe: exec("/" + own)})
	}
	return p
}

// says has the agent report states of a pod, as PROBE=STATE.
func says(n *v1alpha1.NodePodProbe, pod string, states ...string) *v1alpha1.NodePodProbe {
	s := v1alpha1.PodProbeStatus{Namespace: "shop", Name: pod, UID: types.UID("uid-" + pod)}
	for _, state := range states {
		name, state, _ := strings.Cut(state, "=")
		at := metav1.NewTime(now.Add(-time.Minute))
		s.ProbeStates = append(s.ProbeStates, v1alpha1.ContainerProbeState{
			Name: name, State: v1alpha1.ProbeState(state), LastProbeTime: &at, LastTransitionTime: &at, Message: "the words of " + name})
	}
	n.Status.PodProbeStatuses = append(n.Status.PodProbeStatuses, s)
	return n
}

func newSnapshot(n *v1alpha1.NodePodProbe, pods []*corev1.Pod, markers ...*v1alpha1.PodProbeMarker) *Snapshot {
	s := &Snapshot{Node: newNode(), NodePodProbe: n, Pods: pods, Markers: map[string][]*v1alpha1.PodProbeMarker{}, Now: now}
	for _, m := range markers {
		s.Markers[m.Namespace] = append(s.Markers[m.Namespace], m)
	}
	return s
}

// shown shows a plan, one line for every thing that it does.
func shown(p *Plan) (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	entries := func(all []v1alpha1.PodProbe) {
		for _, e := range all {
			var names []string
			for _, probe := range e.Probes {
				names = append(names, fmt.Sprint(probe.Name, " in ", probe.ContainerName, " ", strings.Join(probe.Probe.Exec.Command, " ")))
			}
			at := ""
			if e.IP != "" {
				at = " at " + e.IP
			}
			add("%s/%s %s%s: %s", e.Namespace, e.Name, e.UID, at, strings.Join(names, ", "))
		}
	}
	if p.Create != nil {
		add("create %s", p.Create.Name)
		entries(p.Create.Spec.PodProbes)
	}
	if p.Delete {
		add("delete")
	}
	if p.Waiting != "" {
		add("wait: %s", p.Waiting)
	}
	if p.Spec != nil {
		add("spec")
		entries(p.Spec.PodProbes)
	}
	for _, d := range p.Dropped {
		add("drop %s of %s: %s", d.Probe, d.Pod, d.Reason)
	}
	for i := range p.Patches {
		add("patch %s: %s", p.Patches[i].Pod.Name, changes(&p.Patches[i]))
	}
	for _, i := range p.Ignored {
		add("ignore %s of %s: %s", i.Probe, i.Pod, i.Reason)
	}
	if p.RequeueAfter > 0 {
		add("again after %v", p.RequeueAfter)
	}
	return lines
}

func changes(p *PodPatch) string {
	var out []string
	for _, c := range p.Conditions {
		out = append(out, fmt.Sprintf("%s=%s (%s)", c.Type, c.Status, c.Message))
	}
	for _, of := range []map[string]*string{p.Labels, p.Annotations} {
		for _, key := range slices.Sorted(maps.Keys(of)) {
			if of[key] == nil {
				out = append(out, key+"-")
			} else {
				out = append(out, key+"="+*of[key])
			}
		}
	}
	return strings.Join(out, " ")
}
