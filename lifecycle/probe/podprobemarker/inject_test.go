// SPDX-License-Identifier: Apache-2.0

package podprobemarker

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// PPM-1.7: what is written to a new pod.
func TestInject(t *testing.T) {
	probe := func(name, container, conditionType string, changes ...func(*v1alpha1.PodContainerProbe)) v1alpha1.PodContainerProbe {
		p := v1alpha1.PodContainerProbe{Name: name, ContainerName: container, PodConditionType: conditionType,
			Probe:        corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"/" + name}}}},
			MarkerPolicy: []v1alpha1.ProbeMarkerPolicy{{State: v1alpha1.ProbeFailed, Labels: map[string]string{"a": "b"}}}}
		for _, change := range changes {
			change(&p)
		}
		return p
	}
	marker := func(name string, probes ...v1alpha1.PodContainerProbe) *v1alpha1.PodProbeMarker {
		return &v1alpha1.PodProbeMarker{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.PodProbeMarkerSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, Probes: probes}}
	}
	edited := func(m *v1alpha1.PodProbeMarker, change func(*v1alpha1.PodProbeMarker)) *v1alpha1.PodProbeMarker {
		change(m)
		return m
	}
	idle := `{"name":"idle","containerName":"main","probe":{"exec":{"command":["/idle"]}},"podConditionType":"Idle"}`
	for _, test := range []struct {
		name    string
		markers []*v1alpha1.PodProbeMarker
		named   string
		want    []string // the two annotations
	}{
		{"one", []*v1alpha1.PodProbeMarker{marker("games", probe("idle", "main", "Idle"))}, "", []string{"[" + idle + "]", "games"}},
		{"by the names of markers, of which the first has the type", []*v1alpha1.PodProbeMarker{marker("b", probe("same", "main", "Idle"), probe("more", "side", "More")), marker("a", probe("idle", "main", "Idle"))}, "", []string{
			"[" + idle + `,{"name":"more","containerName":"side","probe":{"exec":{"command":["/more"]}},"podConditionType":"More"}]`, "a,b"}},
		{"the same container and name", []*v1alpha1.PodProbeMarker{marker("a", probe("idle", "main", "Idle")), marker("b", probe("idle", "main", "Other"))}, "", []string{"[" + idle + "]", "a,b"}},
		{"the same name of another container", []*v1alpha1.PodProbeMarker{marker("a", probe("idle", "main", "Idle"), probe("idle", "side", "Other"))}, "", []string{
			"[" + idle + `,{"name":"idle","containerName":"side","probe":{"exec":{"command":["/idle"]}},"podConditionType":"Other"}]`, "a"}},
		{"a named port stays a name", []*v1alpha1.PodProbeMarker{marker("a", probe("idle", "main", "Idle", func(p *v1alpha1.PodContainerProbe) {
			p.Probe = corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromString("http")}}, PeriodSeconds: 3}
		}))}, "", []string{`[{"name":"idle","containerName":"main","probe":{"tcpSocket":{"port":"http"},"periodSeconds":3},"podConditionType":"Idle"}]`, "a"}},
		{"containers that it has not, or that end", []*v1alpha1.PodProbeMarker{marker("a", probe("x", "other", "X"), probe("y", "init", "Y"))}, "", nil},
		{"no condition type", []*v1alpha1.PodProbeMarker{marker("a", probe("idle", "main", ""))}, "", nil},
		{"what admission refuses", []*v1alpha1.PodProbeMarker{marker("a", probe("x", "main", "Ready"), probe("y", "main", "Y", func(p *v1alpha1.PodContainerProbe) {
			p.Probe = corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Host: "10.0.0.1", Port: intstr.FromInt32(80)}}}
		}), probe("z", "main", "Z", func(p *v1alpha1.PodContainerProbe) { p.Probe.Exec.Command = []string{strings.Repeat("x", 5000)} }))}, "", nil},
		{"output that is to be hidden", []*v1alpha1.PodProbeMarker{marker("a", probe("x", "main", "X", func(p *v1alpha1.PodContainerProbe) { p.HideOutput = true }))}, "", nil},
		{"markers that do not match, or go", []*v1alpha1.PodProbeMarker{
			edited(marker("a", probe("x", "main", "X")), func(m *v1alpha1.PodProbeMarker) { m.Spec.Selector.MatchLabels["app"] = "db" }),
			edited(marker("b", probe("y", "main", "Y")), func(m *v1alpha1.PodProbeMarker) { m.Spec.Selector = &metav1.LabelSelector{} }),
			edited(marker("c", probe("z", "main", "Z")), func(m *v1alpha1.PodProbeMarker) { m.DeletionTimestamp = &metav1.Time{} })}, "", nil},
		{"those that the pod names", []*v1alpha1.PodProbeMarker{marker("a", probe("x", "main", "X")),
			edited(marker("b", probe("idle", "main", "Idle")), func(m *v1alpha1.PodProbeMarker) { m.Spec.Selector.MatchLabels["app"] = "db" })}, "gone, b", []string{"[" + idle + "]", "gone, b"}},
		{"it names none that there is", []*v1alpha1.PodProbeMarker{marker("a", probe("x", "main", "X"))}, "gone", []string{"", "gone"}},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-0", Labels: map[string]string{"app": "web"}}, Spec: corev1.PodSpec{
			Containers:     []corev1.Container{{Name: "main"}},
			InitContainers: []corev1.Container{{Name: "init"}, {Name: "side", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}}}}
		if test.named != "" {
			pod.Annotations = map[string]string{v1alpha1.PodProbeMarkersAnnotation: test.named}
		}
		for _, again := range []string{"", ", again"} { // the API server may ask again
			if err := inject(pod, test.markers); err != nil {
				t.Errorf("PPM-1.7: %s%s: %v", test.name, again, err)
			}
			var got []string
			if len(pod.Annotations) > 0 {
				got = []string{pod.Annotations[v1alpha1.PodProbesAnnotation], pod.Annotations[v1alpha1.PodProbeMarkersAnnotation]}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("PPM-1.7: %s%s (-want +got):\n%s", test.name, again, diff)
			}
		}
	}
}

// PPM-1.7: what is handed over has a bound, far below that of the annotations of a pod.
func TestInjectBound(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}}}
	var markers []*v1alpha1.PodProbeMarker
	for i := range 26 {
		letter := string(rune('a' + i))
		markers = append(markers, &v1alpha1.PodProbeMarker{ObjectMeta: metav1.ObjectMeta{Name: letter}, Spec: v1alpha1.PodProbeMarkerSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Probes: []v1alpha1.PodContainerProbe{{Name: letter, ContainerName: "main", PodConditionType: letter,
				Probe: corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{strings.Repeat("x", 3900)}}}}}}}})
	}
	if err := inject(pod, markers); err != nil {
		t.Fatal(err)
	}
	if n := len(pod.Annotations[v1alpha1.PodProbesAnnotation]); n < 60<<10 || n > 65<<10 {
		t.Errorf("PPM-1.7: the annotation has %d bytes", n)
	}
}
