// SPDX-License-Identifier: Apache-2.0

package podprobemarker

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

var now = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))

func newMarker(changes ...func(*v1alpha1.PodProbeMarker)) *v1alpha1.PodProbeMarker {
	m := &v1alpha1.PodProbeMarker{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "games", UID: "uid", Generation: 3, Finalizers: []string{v1alpha1.PodProbeMarkerFinalizer}},
		Spec: v1alpha1.PodProbeMarkerSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Probes: []v1alpha1.PodContainerProbe{{Name: "idle", ContainerName: "main", PodConditionType: "Idle",
				Probe: corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}}}},
		},
	}
	for _, change := range changes {
		change(m)
	}
	return m
}

func finalizers(names ...string) func(*v1alpha1.PodProbeMarker) {
	return func(m *v1alpha1.PodProbeMarker) { m.Finalizers = names }
}

func ending(m *v1alpha1.PodProbeMarker) { m.DeletionTimestamp = &now }

func status(generation, pods int64) func(*v1alpha1.PodProbeMarker) {
	return func(m *v1alpha1.PodProbeMarker) {
		m.Status = v1alpha1.PodProbeMarkerStatus{ObservedGeneration: generation, MatchedPods: pods}
	}
}

func newPod(name string, changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: "main"}}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodInitialized, Status: corev1.ConditionTrue}}},
	}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func newProbes(node string, changes ...func(*v1alpha1.NodePodProbe)) *v1alpha1.NodePodProbe {
	n := &v1alpha1.NodePodProbe{ObjectMeta: metav1.ObjectMeta{Name: node}, Spec: v1alpha1.NodePodProbeSpec{
		PodProbes: []v1alpha1.PodProbe{{Namespace: "shop", Name: "web-0", Probes: []v1alpha1.ContainerProbe{{Name: "games#idle"}}}}}}
	for _, change := range changes {
		change(n)
	}
	return n
}

// shown shows a plan in one line.
func shown(p *Plan) (out string) {
	if p.Finalizers != nil {
		out += fmt.Sprint("finalizers ", *p.Finalizers, " ")
	}
	if p.Status != nil {
		out += fmt.Sprintf("status {ObservedGeneration:%d MatchedPods:%d} ", p.Status.ObservedGeneration, p.Status.MatchedPods)
		if told := heldup.Kubernetes.Told(p.Status.Conditions); told != nil {
			out += told.Reason + ": " + told.Message + " "
		}
	}
	if len(p.Waiting) > 0 {
		out += fmt.Sprintf("wait: %s %v ", p.Waiting[0], p.Nodes)
	}
	if len(p.NoContainer) > 0 {
		out += fmt.Sprint("no container: ", p.NoContainer)
	}
	for _, problem := range p.Problems {
		out += problem.String()
	}
	return out
}

// PPM-2.1 to PPM-2.4: what is done about a marker.
func TestPlan(t *testing.T) {
	const finalizer = v1alpha1.PodProbeMarkerFinalizer
	pods := []*corev1.Pod{
		newPod("a"), newPod("b"),
		newPod("waits", func(p *corev1.Pod) { p.Spec.NodeName = "" }),
		newPod("initializes", func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }),
		newPod("new", func(p *corev1.Pod) { p.Status.Conditions = nil }),
		newPod("ended", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }),
		newPod("ends", func(p *corev1.Pod) { p.DeletionTimestamp = &now }),
	}
	for _, test := range []struct {
		name   string
		marker *v1alpha1.PodProbeMarker
		pods   []*corev1.Pod
		probed []*v1alpha1.NodePodProbe
		want   string
	}{
		{"new", newMarker(finalizers("other")), pods, nil, "finalizers [other " + finalizer + "] status {ObservedGeneration:3 MatchedPods:2} "},
		{"it stands", newMarker(status(3, 2)), pods, nil, ""},
		{"no pods any more", newMarker(status(3, 2)), nil, nil, "status {ObservedGeneration:3 MatchedPods:0} "},
		{"changed", newMarker(status(2, 2)), pods, nil, "status {ObservedGeneration:3 MatchedPods:2} "},
		{"PPM-2.6: a container that no pod has", newMarker(status(3, 2), func(m *v1alpha1.PodProbeMarker) { m.Spec.Probes[0].ContainerName = "mian" }), pods, nil, "no container: [probe idle: none of 2 pods has a container mian]"},
		{"PPM-2.6: and no pods", newMarker(status(3, 0), func(m *v1alpha1.PodProbeMarker) { m.Spec.Probes[0].ContainerName = "mian" }), nil, nil, ""},
		{"an empty selector", newMarker(status(3, 0), func(m *v1alpha1.PodProbeMarker) { m.Spec.Selector = &metav1.LabelSelector{} }), pods, nil, ""},
		{"no selector", newMarker(status(3, 0), func(m *v1alpha1.PodProbeMarker) { m.Spec.Selector = nil }), pods, nil, ""},
		{"an invalid selector", newMarker(status(3, 0), func(m *v1alpha1.PodProbeMarker) {
			m.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}
		}), pods, nil, `problem: "Like" is not a valid label selector operator`},
		{"it ends, and nodes have its probes", newMarker(ending), nil, []*v1alpha1.NodePodProbe{newProbes("n2"), newProbes("n1")}, "wait: nodes still have its probes [n1 n2] "},
		{"it ends", newMarker(ending, finalizers("other", finalizer)), nil, nil, "finalizers [other] "},
		{"the only node that has its probes goes, too", newMarker(ending), nil, []*v1alpha1.NodePodProbe{newProbes("n1", func(n *v1alpha1.NodePodProbe) { n.DeletionTimestamp = &now })}, "finalizers [] "},
		{"others keep it", newMarker(ending, finalizers("other")), nil, nil, "wait: it waits for finalizers of others [] "},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, shown(NewPlan(&Snapshot{Marker: test.marker, Pods: test.pods, Probed: test.probed}))); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
	if got := shown(NewPlan(nil)); got != "" {
		t.Error("nothing:", got)
	}
}

// PPM-2.7: caches have no order, and what is told is the same each time.
func TestHeldUpIsToldInOneOrder(t *testing.T) {
	since := now.Add(-time.Hour)
	tell := func(pods ...*corev1.Pod) string {
		return shown(NewPlan(&Snapshot{Marker: newMarker(), Pods: pods, Now: now.Time, HeldSince: heldup.Since{
			{Kind: "pod", Name: "a"}: since, {Kind: "pod", Name: "b"}: since,
		}}))
	}
	one, other := tell(newPod("a"), newPod("b")), tell(newPod("b"), newPod("a"))
	if one != other || !strings.Contains(one, "pod a (and b): ") {
		t.Errorf("%q, and in another order of the cache %q", one, other)
	}
}
