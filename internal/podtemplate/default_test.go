// SPDX-License-Identifier: Apache-2.0

package podtemplate_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/podwright/podwright/internal/podtemplate"
	"github.com/podwright/podwright/internal/testing/patches"
)

// TestDefaults shows in testdata/defaults.txt what defaults change in a template of pods, or in a claim, as a patch of it without
// directives.
func TestDefaults(t *testing.T) {
	datadriven.RunTest(t, "testdata/defaults.txt", func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "claim":
			return changes(t, d, podtemplate.DefaultClaim)
		case "pull":
			return patches.EachLine(d.Input, func(image string) string {
				template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{InitContainers: []corev1.Container{{Image: strings.Trim(image, `"`)}}}}
				podtemplate.Default(template)
				return string(template.Spec.InitContainers[0].ImagePullPolicy)
			})
		}
		return changes(t, d, podtemplate.Default)
	})
}

// changes is the patch that defaults make of an object. They change nothing the second time.
func changes[T any](t *testing.T, d *datadriven.TestData, setDefaults func(*T)) string {
	t.Helper()
	object := patches.Object[T](t, d.Input)
	before := patches.JSON(t, object)
	setDefaults(object)
	after := patches.JSON(t, object)
	if setDefaults(object); after != patches.JSON(t, object) {
		t.Errorf("%s: the second time they change %s to %s", d.Pos, after, patches.JSON(t, object))
	}
	patch, err := strategicpatch.CreateTwoWayMergePatch([]byte(before), []byte(after), object)
	if err != nil {
		t.Fatal(err)
	}
	return directives.ReplaceAllString(string(patch), "") + "\n"
}

// directives are those of a strategic merge patch about orders and unions.
var directives = regexp.MustCompile(`"\$(setElementOrder/\w+|retainKeys)":\[[^\]]*\],?`)

func FuzzDefault(f *testing.F) {
	f.Add([]byte(`{"spec":{"containers":[{"name":"main","image":"a:1","livenessProbe":{"httpGet":{"port":80}}}],"volumes":[{"name":"v"}]}}`))
	f.Add([]byte(`{"spec":{"initContainers":[{"image":"@:/"}],"volumes":[{"projected":{"sources":[{}]}}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		once := &corev1.PodTemplateSpec{}
		if json.Unmarshal(data, once) != nil {
			return
		}
		podtemplate.Default(once)
		twice := once.DeepCopy()
		podtemplate.Default(twice)
		if diff := cmp.Diff(once, twice); diff != "" {
			t.Errorf("the second Default changes something (-once +twice):\n%s", diff)
		}
	})
}

func BenchmarkDefault(b *testing.B) {
	open := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Volumes:    []corev1.Volume{{Name: "v"}},
		Containers: []corev1.Container{{Name: "main", Image: "a:1", Ports: []corev1.ContainerPort{{ContainerPort: 80}}, LivenessProbe: &corev1.Probe{}}},
	}}
	b.ReportAllocs()
	for b.Loop() {
		podtemplate.Default(open.DeepCopy())
	}
}

func ExampleDefault() {
	template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "migrate", Image: "shop:v2"}},
		Containers:     []corev1.Container{{Name: "shop", Image: "shop:v2"}},
	}}
	podtemplate.Default(template)
	fmt.Println(template.Spec.InitContainers[0].ImagePullPolicy, template.Spec.Containers[0].ImagePullPolicy, template.Spec.RestartPolicy)
	// Output: IfNotPresent Always Always
}
