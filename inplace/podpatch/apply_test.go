// SPDX-License-Identifier: Apache-2.0

package podpatch_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/podwright/podwright/inplace/podpatch"
)

// served returns the pod after the requests of the patch, as an API server
// merges them.
func served(p *podpatch.Patch, pod *corev1.Pod) (*corev1.Pod, error) {
	writes, err := p.Writes(pod)
	if err != nil {
		return nil, err
	}
	for _, w := range writes {
		before, err := json.Marshal(pod)
		if err != nil {
			return nil, err
		}
		after, err := strategicpatch.StrategicMergePatch(before, w.Data, corev1.Pod{})
		if err != nil {
			return nil, err
		}
		pod = &corev1.Pod{}
		if err := json.Unmarshal(after, pod); err != nil {
			return nil, err
		}
	}
	return pod, nil
}

// What Apply takes, an API server takes, with the same result.
func FuzzApply(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"metadata":{"labels":null,"annotations":{"note":null}}}`, `{"metadata":{"labels":{"rev":5}}}`,
		`{"metadata":{"$setElementOrder/finalizers":["g","f"],"finalizers":["g"]}}`, `{"metadata":{"finalizers":null}}`,
		`{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/held"]}}`, `{"metadata":{"name":"other"}}`,
		`{"metadata":{"ownerReferences":[{"$patch":"delete","uid":"o1"}]}}`, `{"metadata":{"labels":{"$patch":"replace","a":"b"}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, metadata []byte) {
		p := podpatch.Patch{Metadata: metadata, AddFinalizers: []string{"f"}, RemoveOwner: "o2"}
		p.SetLabel("rev", "b")
		got, err := p.Apply(testPod())
		if err != nil {
			return
		}
		want, err := served(&p, testPod())
		if err != nil {
			t.Fatalf("Apply takes what the API server refuses: %v", err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("patch %s (-API server +Apply):\n%s", metadata, diff)
		}
	})
}
