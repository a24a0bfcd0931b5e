// SPDX-License-Identifier: Apache-2.0

package podprobemarker

import (
	"fmt"
	"maps"
	"regexp"
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

// many are letters that shown annotations do not have all.
var many = regexp.MustCompile(`x{99,}`)

// TestInject shows in testdata/inject.txt what is written to a new pod of app=web with the container main and two init containers. The markers
// follow a command, and the pod may name some. (PPM-1.7)
func TestInject(t *testing.T) {
	datadriven.RunTest(t, "testdata/inject.txt", func(t *testing.T, d *datadriven.TestData) (out string) {
		var markers []*v1alpha1.PodProbeMarker
		if err := yaml.UnmarshalStrict([]byte(lengthened(t, d.Input)), &markers); err != nil {
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
		if many.MatchString(out) {
			out += fmt.Sprintln(len(out), "bytes")
		}
		return many.ReplaceAllStringFunc(out, func(x string) string { return fmt.Sprint("x*", len(x)) })
	})
}
