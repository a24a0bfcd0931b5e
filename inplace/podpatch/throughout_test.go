// SPDX-License-Identifier: Apache-2.0

package podpatch_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/internal/testing/patches"
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

// TestHolds shows in testdata/holds.txt after which changes by others, as strategic merge patches, a patch still holds. What a kubelet reports
// changes nothing, unless another container runs.
func TestHolds(t *testing.T) {
	read := testPod()
	read.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "web", ContainerID: "c1", ImageID: "i1", Image: "web:1"}}
	var p podpatch.Patch
	p.SetCondition(condition("A", "False", "", ""))
	p.SetImage("web", "web:2")
	p.SetResources("web", cpu("2", ""))
	patches.PlayRows(t, "testdata/holds.txt", nil, func(t *testing.T, _ string, change *json.RawMessage) string {
		live := read.DeepCopy()
		live.Status.Conditions[0].Status = "False" // by the first write
		patches.Strategic(t, live, string(*change))
		return fmt.Sprint(p.Holds(read, live))
	})
}
