// SPDX-License-Identifier: Apache-2.0

package nodepodprobe

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// PPM-3.1: a NodePodProbe comes with the node and goes with it.
func TestNodes(t *testing.T) {
	web, idle := newPod("web-0"), newMarker("games", newProbe("idle", "Idle"))
	for _, test := range []struct {
		name  string
		node  *corev1.Node
		probe *v1alpha1.NodePodProbe
		want  []string
	}{
		{"ready", newNode(), nil, []string{"create node-1", "shop/web-0 uid-web-0: games#idle in main /idle"}},
		{"not ready", newNode(func(n *corev1.Node) { n.Status.Conditions = nil }), nil, []string{"wait: the node is not ready"}},
		{"virtual", newNode(func(n *corev1.Node) { n.Labels = map[string]string{"type": "virtual-kubelet"} }), nil, []string{"wait: the node is a virtual kubelet, on which no agent runs"}},
		{"going", newNode(func(n *corev1.Node) { n.DeletionTimestamp = &metav1.Time{Time: now} }), nil, []string{"wait: the node is being deleted"}},
		{"gone", nil, newProbes(), []string{"delete"}},
		{"going, with one", newNode(func(n *corev1.Node) { n.DeletionTimestamp = &metav1.Time{Time: now} }), newProbes(), []string{"delete"}},
		{"not ready, with one", newNode(func(n *corev1.Node) { n.Status.Conditions = nil }), newProbes(probed("web-0", "games#idle")), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSnapshot(test.probe, []*corev1.Pod{web}, idle)
			s.Node = test.node
			if diff := cmp.Diff(test.want, shown(NewPlan(s))); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
	going := newProbes()
	going.DeletionTimestamp = &metav1.Time{Time: now}
	for want, node := range map[string]*corev1.Node{"": nil, "the NodePodProbe is being deleted": newNode()} {
		s := newSnapshot(going, []*corev1.Pod{web}, idle)
		s.Node = node
		if plan := NewPlan(s); plan.Delete || plan.Spec != nil || plan.Waiting != want {
			t.Errorf("one that is being deleted: %v", shown(plan))
		}
	}
	if plan := NewPlan(nil); len(shown(plan)) > 0 {
		t.Errorf("nothing: %v", shown(plan))
	}
}

// PPM-3.2: a controller of one namespace leaves the probes of others alone.
func TestOneNamespace(t *testing.T) {
	elsewhere := probed("db-0", "games#idle")
	elsewhere.Namespace = "bank"
	s := newSnapshot(newProbes(elsewhere, probed("gone", "games#idle")), []*corev1.Pod{newPod("web-0")}, newMarker("games", newProbe("idle", "Idle")))
	s.Namespace = "shop"
	want := []string{"spec", "bank/db-0 uid-db-0: games#idle in main /idle", "shop/web-0 uid-web-0: games#idle in main /idle", "drop games#idle of shop/gone: the pod is gone"}
	if diff := cmp.Diff(want, shown(NewPlan(s))); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

// PPM-3.2: what a NodePodProbe asks for.
func TestSpec(t *testing.T) {
	games := newMarker("games", newProbe("idle", "Idle"))
	elsewhere := games.DeepCopy()
	elsewhere.Namespace = "other"
	ended := games.DeepCopy()
	ended.DeletionTimestamp = &metav1.Time{Time: now}
	broken := newMarker("broken", newProbe("idle", ""))
	broken.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}
	everything := newMarker("everything", newProbe("idle", ""))
	everything.Spec.Selector = &metav1.LabelSelector{}
	changed := newMarker("games", newProbe("idle", "Idle"))
	changed.Spec.Probes[0].Probe.PeriodSeconds = 5
	moves := newMarker("moves", newProbe("idle", "", sets(v1alpha1.ProbeSucceeded, "app=idle"), sets(v1alpha1.ProbeFailed, "app=web")))
	other := newPod("web-0", func(pod *corev1.Pod) { pod.UID = "another" })
	for _, test := range []struct {
		name    string
		n       *v1alpha1.NodePodProbe
		pods    []*corev1.Pod
		markers []*v1alpha1.PodProbeMarker
		want    []string
	}{
		{"nothing to do", newProbes(probed("web-0", "games#idle")), []*corev1.Pod{newPod("web-0")}, []*v1alpha1.PodProbeMarker{games}, nil},
		{"new pods follow, by name", newProbes(probed("web-2", "games#idle")), []*corev1.Pod{newPod("web-2"), newPod("web-1"), newPod("web-0")}, []*v1alpha1.PodProbeMarker{games}, []string{
			"spec", "shop/web-2 uid-web-2: games#idle in main /idle", "shop/web-0 uid-web-0: games#idle in main /idle", "shop/web-1 uid-web-1: games#idle in main /idle"}},
		{"a new marker's probes follow", newProbes(probed("web-0", "games#idle")), []*corev1.Pod{newPod("web-0")}, []*v1alpha1.PodProbeMarker{newMarker("a", newProbe("x", ""), newProbe("y", "")), games}, []string{
			"spec", "shop/web-0 uid-web-0: games#idle in main /idle, a#x in main /x, a#y in main /y"}},
		{"a changed probe", newProbes(probed("web-0", "games#idle")), []*corev1.Pod{newPod("web-0")}, []*v1alpha1.PodProbeMarker{changed}, []string{
			"spec", "shop/web-0 uid-web-0: games#idle in main /idle"}},
		{"a probe that the marker has no more", newProbes(probed("web-0", "games#idle", "games#busy")), []*corev1.Pod{newPod("web-0")}, []*v1alpha1.PodProbeMarker{games}, []string{
			"spec", "shop/web-0 uid-web-0: games#idle in main /idle", "drop games#busy of shop/web-0: no PodProbeMarker asks for it any more"}},
		{"a marker that goes, not the one whose name it ends", newProbes(probed("web-0", "games#idle", "endgames#idle")), []*corev1.Pod{newPod("web-0")},
			[]*v1alpha1.PodProbeMarker{ended, newMarker("endgames", newProbe("idle", ""))}, []string{
				"spec", "shop/web-0 uid-web-0: endgames#idle in main /idle", "drop games#idle of shop/web-0: no PodProbeMarker asks for it any more"}},
		{"a marker of another namespace", newProbes(probed("web-0", "games#idle")), []*corev1.Pod{newPod("web-0")}, []*v1alpha1.PodProbeMarker{elsewhere}, []string{
			"spec", "drop games#idle of shop/web-0: no PodProbeMarker asks for it any more"}},
		{"a probe that no marker has given stays", newProbes(probed("web-0", "by-hand", "#", "gone#idle")), []*corev1.Pod{newPod("web-0")}, nil, []string{
			"spec", "shop/web-0 uid-web-0: by-hand in main /, # in main /", "drop gone#idle of shop/web-0: no PodProbeMarker asks for it any more"}},
		{"a pod that stops matching", newProbes(probed("web-0", "games#idle")), []*corev1.Pod{newPod("web-0", labelled("app", "db"))}, []*v1alpha1.PodProbeMarker{games}, []string{
			"spec", "drop games#idle of shop/web-0: no PodProbeMarker asks for it any more"}},
		{"a pod that its policy has moved", newProbes(probed("web-0", "moves#idle")), []*corev1.Pod{newPod("web-0", labelled("app", "idle"))}, []*v1alpha1.PodProbeMarker{moves}, nil},
		{"a pod whose label its policy has taken away", newProbes(probed("web-0", "moves#idle")), []*corev1.Pod{newPod("web-0", func(pod *corev1.Pod) { delete(pod.Labels, "app") })}, []*v1alpha1.PodProbeMarker{moves}, nil},
		{"a user moves a pod of such a marker", newProbes(probed("web-0", "moves#idle")), []*corev1.Pod{newPod("web-0", labelled("app", "db"))}, []*v1alpha1.PodProbeMarker{moves}, []string{
			"spec", "drop moves#idle of shop/web-0: no PodProbeMarker asks for it any more"}},
		{"a pod that was never selected", newProbes(), []*corev1.Pod{newPod("web-0", labelled("app", "idle"))}, []*v1alpha1.PodProbeMarker{moves}, nil},
		{"a pod that goes", newProbes(probed("web-0", "games#idle", "by-hand")), []*corev1.Pod{newPod("web-0", ending)}, []*v1alpha1.PodProbeMarker{games}, []string{
			"spec", "drop games#idle of shop/web-0: the pod has ended, or is being deleted", "drop by-hand of shop/web-0: the pod has ended, or is being deleted"}},
		{"a pod that is gone", newProbes(probed("web-0", "games#idle")), nil, []*v1alpha1.PodProbeMarker{games}, []string{
			"spec", "drop games#idle of shop/web-0: the pod is gone"}},
		{"another pod of its name", newProbes(probed("web-0", "games#idle")), []*corev1.Pod{other}, []*v1alpha1.PodProbeMarker{games}, []string{
			"spec", "shop/web-0 another: games#idle in main /idle", "drop games#idle of shop/web-0: the pod is gone, and another one has its name"}},
		{"twice", newProbes(probed("web-0", "games#idle", "games#idle"), probed("web-0", "games#idle")), []*corev1.Pod{newPod("web-0")}, []*v1alpha1.PodProbeMarker{games}, []string{
			"spec", "shop/web-0 uid-web-0: games#idle in main /idle", "drop games#idle of shop/web-0: the probe stands here twice", "drop games#idle of shop/web-0: the pod stands here twice"}},
		{"a pod that is not initialized", newProbes(), []*corev1.Pod{newPod("web-0", func(pod *corev1.Pod) { pod.Status.Conditions = nil })}, []*v1alpha1.PodProbeMarker{games}, nil},
		{"selectors that admission refuses", newProbes(), []*corev1.Pod{newPod("web-0")}, []*v1alpha1.PodProbeMarker{broken, everything}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, shown(NewPlan(newSnapshot(test.n, test.pods, test.markers...)))); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

// PPM-3.8: namespaces share the room of a node, and what has none is left out. PPM-1.6: and so is what is too large for any.
func TestRoom(t *testing.T) {
	script := func(n int) corev1.Probe { return exec("sh", "-c", strings.Repeat("x", n)) }
	huge := newProbe("huge", "Huge")
	huge.Probe = script(60 << 10)
	large := newMarker("large")
	for i := range 4 {
		probe := newProbe(fmt.Sprint("p", i), fmt.Sprint("P", i))
		probe.Probe = script(3 << 10)
		large.Spec.Probes = append(large.Spec.Probes, probe)
	}
	victim := newMarker("victim", newProbe("idle", "Idle"))
	victim.Namespace = "bank"
	pods := []*corev1.Pod{newPod("web-0", func(pod *corev1.Pod) { pod.Namespace = "bank" })}
	for i := range 100 {
		pods = append(pods, newPod(fmt.Sprintf("evil-%03d", i)))
	}
	s := newSnapshot(newProbes(), pods, large, newMarker("huge", huge), victim)
	plan := NewPlan(s)
	size := 0
	stands := map[string]int{}
	for _, entry := range plan.Spec.PodProbes {
		data, err := json.Marshal(entry)
		if err != nil {
			t.Fatal(err)
		}
		size += len(data)
		stands[entry.Namespace] += len(entry.Probes)
	}
	if size > 1<<20 || stands["bank"] != 1 || stands["shop"] < 200 || stands["shop"] > 240 {
		t.Errorf("the NodePodProbe has %d bytes, and probes %v", size, stands)
	}
	if why := plan.LeftOut[types.NamespacedName{Namespace: "shop", Name: "large"}]; len(plan.LeftOut) != 1 || !strings.Contains(why, "may take 1048576 bytes, and those of namespace shop take") {
		t.Errorf("left out: %v", plan.LeftOut)
	}
	said := map[string]int{}
	for _, p := range plan.Patches {
		for _, c := range p.Conditions {
			said[fmt.Sprint(c.Status, " ", strings.Fields(c.Message)[:9])]++
		}
	}
	if n := said["Unknown [the probe is left out: it has 61527 bytes,]"]; n != 100 || len(said) != 2 {
		t.Errorf("conditions: %v", said)
	}
	s.NodePodProbe.Spec = *plan.Spec
	for _, p := range plan.Patches {
		p.Pod.Status.Conditions = append(p.Pod.Status.Conditions, p.Conditions...)
	}
	if again := NewPlan(s); again.Spec != nil || len(again.Patches) > 0 {
		t.Errorf("a plan that was applied has %d patches left, spec %v", len(again.Patches), again.Spec != nil)
	}
}
