// SPDX-License-Identifier: Apache-2.0

package podpatch_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/podpatch"
)

// TestOn: the second write holds only for the pod as the first has left it, if the patch
// says so.
func TestOn(t *testing.T) {
	for _, throughout := range []bool{false, true} {
		p := podpatch.Patch{IfUnchanged: true, Throughout: throughout}
		p.SetCondition(condition("A", "False", "", ""))
		p.SetImage("web", "web:2")
		writes, err := p.Writes(testPod())
		if err != nil || len(writes) != 2 || writes[0].Chained || writes[1].Chained != throughout {
			t.Fatalf("throughout %t: writes %v, error %v", throughout, writes, err)
		}
		second, err := writes[1].On("43")
		const want = `{"metadata":{"resourceVersion":"43","uid":"u1"},"spec":{"containers":[{"name":"web","image":"web:2"}]}}`
		var got, wanted any
		if err != nil || json.Unmarshal(second.Data, &got) != nil || json.Unmarshal([]byte(want), &wanted) != nil {
			t.Fatalf("%s, error %v", second.Data, err)
		}
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("the second write (-want +got):\n%s", diff)
		}
	}
	for _, data := range []string{"", "{}", "[]"} {
		if _, err := (podpatch.Write{Data: []byte(data)}).On("43"); err == nil {
			t.Errorf("%q is made conditional", data)
		}
	}
}

// TestHolds: what a kubelet reports changes nothing, unless another container runs.
func TestHolds(t *testing.T) {
	read := testPod()
	read.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "web", ContainerID: "c1", ImageID: "i1", Image: "web:1"}}
	var p podpatch.Patch
	p.SetCondition(condition("A", "False", "", ""))
	p.SetImage("web", "web:2")
	p.SetResources("web", cpu("2", ""))
	for name, test := range map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"resources":            {func(pod *corev1.Pod) { pod.Spec.Containers[0].Resources = cpu("3", "") }, false},
		"nothing":              {func(*corev1.Pod) {}, true},
		"the version":          {func(pod *corev1.Pod) { pod.ResourceVersion = "50" }, true},
		"another condition":    {func(pod *corev1.Pod) { pod.Status.Conditions[1].Message = "still" }, true},
		"readiness":            {func(pod *corev1.Pod) { pod.Status.ContainerStatuses[0].Ready = true }, true},
		"its own condition":    {func(pod *corev1.Pod) { pod.Status.Conditions[0].Status = "True" }, false},
		"no condition":         {func(pod *corev1.Pod) { pod.Status.Conditions = nil }, false},
		"a label":              {func(pod *corev1.Pod) { pod.Labels["rev"] = "b" }, false},
		"an annotation":        {func(pod *corev1.Pod) { pod.Annotations["note"] = "new" }, false},
		"an image":             {func(pod *corev1.Pod) { pod.Spec.Containers[1].Image = "log:2" }, false},
		"the container":        {func(pod *corev1.Pod) { pod.Status.ContainerStatuses[0].ContainerID = "c2" }, false},
		"the image ID":         {func(pod *corev1.Pod) { pod.Status.ContainerStatuses[0].ImageID = "i2" }, false},
		"no status":            {func(pod *corev1.Pod) { pod.Status.ContainerStatuses = nil }, false},
		"another pod":          {func(pod *corev1.Pod) { pod.UID = "u2" }, false},
		"it is on its way out": {func(pod *corev1.Pod) { pod.DeletionTimestamp = &at }, false},
	} {
		live := read.DeepCopy()
		live.Status.Conditions[0].Status = "False" // by the first write
		test.change(live)
		if got := p.Holds(read, live); got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}
