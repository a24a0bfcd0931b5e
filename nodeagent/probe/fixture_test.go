// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"fmt"
	"path"
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

// change changes the NodePodProbe of a snapshot.
type change func(*v1alpha1.NodePodProbe)

// newNodePodProbe returns the NodePodProbe of node-1.
func newNodePodProbe(changes ...change) *v1alpha1.NodePodProbe {
	n := &v1alpha1.NodePodProbe{ObjectMeta: metav1.ObjectMeta{Name: "node-1", UID: "uid"}}
	for _, c := range changes {
		c(n)
	}
	return n
}

// in splits the name of a pod, perhaps "namespace/pod". Without a namespace it is of shop.
func in(pod string) (namespace, name string) {
	if namespace, name, found := strings.Cut(pod, "/"); found {
		return namespace, name
	}
	return "shop", pod
}

// words are those of testdata/words.yaml.
var words = patches.Read("testdata/words.yaml", now)

// wants has a pod, perhaps "namespace/pod", probed: its container main, every 10 s, by a command that is the name of the probe. Words change
// the probe, and "named=other" is the pod's name.
func wants(pod, probe string, changes ...string) change {
	return func(n *v1alpha1.NodePodProbe) {
		namespace, name := in(pod)
		uid := types.UID("uid-" + name)
		changes = slices.DeleteFunc(slices.Clone(changes), func(word string) bool {
			other, is := strings.CutPrefix(word, "named=")
			if is {
				name = other
			}
			return is
		})
		p := &v1alpha1.ContainerProbe{Name: probe, ContainerName: "main", Probe: command(probe)}
		p.Probe.PeriodSeconds = 10
		p = patches.Changed(words, p, changes...)
		for i := range n.Spec.PodProbes {
			if n.Spec.PodProbes[i].UID == uid {
				n.Spec.PodProbes[i].Probes = append(n.Spec.PodProbes[i].Probes, *p)
				return
			}
		}
		n.Spec.PodProbes = append(n.Spec.PodProbes, v1alpha1.PodProbe{Namespace: namespace, Name: name, UID: uid, Probes: []v1alpha1.ContainerProbe{*p}})
	}
}

func command(words ...string) corev1.Probe {
	return corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: words}}}
}

func idOf(pod, probe string) ID {
	namespace, pod := in(pod)
	return ID{Namespace: namespace, Pod: pod, UID: types.UID("uid-" + pod), Container: "main", Probe: probe}
}

// says has the status report a state that began a minute before now, in the words of is.
func says(pod, probe string, state v1alpha1.ProbeState) change {
	return func(n *v1alpha1.NodePodProbe) {
		at := metav1.NewTime(now.Add(-time.Minute))
		add(&n.Status, idOf(pod, probe), v1alpha1.ContainerProbeState{Name: probe, State: state, Message: "why", LastProbeTime: &at, LastTransitionTime: &at})
	}
}

// knows is what an agent knows of a probe of wants, changed by words.
func knows(pod, probe string, changes ...string) Probe {
	return *patches.Changed(words, &Probe{ID: idOf(pod, probe), Handler: command(probe).ProbeHandler, First: now}, changes...)
}

// told has the last state that is reported be so old.
func told(ago time.Duration) change {
	return func(n *v1alpha1.NodePodProbe) {
		at := metav1.NewTime(now.Add(-ago))
		last := &n.Status.PodProbeStatuses[len(n.Status.PodProbeStatuses)-1]
		last.ProbeStates[len(last.ProbeStates)-1].LastProbeTime = &at
	}
}

// shown shows a plan, one line for every thing that it does.
func shown(p *Plan) (lines []string) {
	add := func(format string, args ...any) {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf(format, args...)))
	}
	for _, q := range p.Begin {
		add("begin %s %s in %v %s", q.Pod, q.ID.Probe, q.First.Sub(now), q.State)
	}
	for _, id := range p.Forget {
		add("forget %s %s", id.Pod, id.Probe)
	}
	for _, s := range p.Start {
		add("start %s %s for %v after %v", s.Pod, s.Probe, s.Timeout, s.InitialDelay)
	}
	if p.Status != nil {
		add("status: %s", strings.Join(shownStatus(p.Status), ", "))
	}
	for _, c := range p.Changed {
		add("event %s %s %s", c.Pod, c.Probe, c.State)
	}
	for _, w := range p.Waiting {
		add("wait %s %s: %s", path.Base(w.In.Name), w.Name, w.Reason)
	}
	if p.RequeueAfter > 0 {
		add("again after %v", p.RequeueAfter)
	}
	return lines
}

func shownStatus(status *v1alpha1.NodePodProbeStatus) (lines []string) {
	for _, pod := range status.PodProbeStatuses {
		for _, s := range pod.ProbeStates {
			line := fmt.Sprint(pod.Name, " ", s.Name, " ", s.State)
			if s.Message != "" {
				line += " (" + s.Message + ")"
			}
			lines = append(lines, line)
		}
	}
	return lines
}
