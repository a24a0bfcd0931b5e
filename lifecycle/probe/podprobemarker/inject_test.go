// SPDX-License-Identifier: Apache-2.0

package podprobemarker

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// TestInject shows in testdata/inject.txt what is written to a new pod of app=web with the container main and two init containers. The markers
// follow a command, and the pod may name some. (PPM-1.7)
func TestInject(t *testing.T) {
	datadriven.RunTest(t, "testdata/inject.txt", func(t *testing.T, d *datadriven.TestData) (out string) {
		var markers []*v1alpha1.PodProbeMarker
		if err := yaml.UnmarshalStrict([]byte(strings.ReplaceAll(d.Input, "LONG", strings.Repeat("x", 5000))), &markers); err != nil {
			t.Fatal(err)
		}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-0", Labels: map[string]string{"app": "web"}}, Spec: corev1.PodSpec{
			Containers:     []corev1.Container{{Name: "main"}},
			InitContainers: []corev1.Container{{Name: "init"}, {Name: "side", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}}}}
		for _, arg := range d.CmdArgs {
			pod.Annotations = map[string]string{v1alpha1.PodProbeMarkersAnnotation: strings.Join(arg.Vals, ", ")}
		}
		for range 2 { // the API server may ask again
			before := out
			if err := inject(pod, markers); err != nil {
				t.Errorf("%s: %v", d.Pos, err)
			}
			out = ""
			for _, key := range slices.Sorted(maps.Keys(pod.Annotations)) {
				out += key + ": " + pod.Annotations[key] + "\n"
			}
			if before != "" && before != out {
				t.Errorf("%s: asked again, it writes\n%s", d.Pos, out)
			}
		}
		return out
	})
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
