// SPDX-License-Identifier: Apache-2.0

package podpatch_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"pgregory.net/rapid"

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

// Apply does what the API server's own code does with the requests of a patch,
// whatever rules and templates ask for.
func TestApplyAgreesWithTheAPIServer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pod, p := drawPod(t), drawPatch(t)
		want, err := served(&p, pod)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Apply(pod)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("patch %s\nof %v\n(-API server +Apply):\n%s", p.Metadata, pod.ObjectMeta, diff)
		}
	})
}

// The few names make patches meet what a pod has.
var (
	someNames  = rapid.SampledFrom([]string{"a", "b", "c", "d", "e"})
	someValues = rapid.SampledFrom([]string{"", "1", "2"})
	someKeys   = rapid.MapOf(someNames, someValues)
	someList   = rapid.SliceOfDistinct(someNames, rapid.ID[string])
)

func drawPod(t *rapid.T) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: "web", UID: "u", ResourceVersion: "1", Generation: 2,
		Labels: someKeys.Draw(t, "labels"), Annotations: someKeys.Draw(t, "annotations"), Finalizers: someList.Draw(t, "finalizers"),
	}}
	for _, uid := range someList.Draw(t, "owners") {
		pod.OwnerReferences = append(pod.OwnerReferences, metav1.OwnerReference{Kind: "K", Name: uid, UID: types.UID(uid)})
	}
	for _, name := range someList.Draw(t, "containers") {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: name, Image: "i:1", Command: []string{"x"}})
	}
	for _, name := range someList.Draw(t, "conditions") {
		c := corev1.PodCondition{Type: corev1.PodConditionType(name), Status: "True", Reason: someValues.Draw(t, "reason"), LastProbeTime: at}
		pod.Status.Conditions = append(pod.Status.Conditions, c)
	}
	return pod
}

func drawPatch(t *rapid.T) podpatch.Patch {
	p := podpatch.Patch{AddFinalizers: someList.Draw(t, "add finalizers"), IfUnchanged: rapid.Bool().Draw(t, "if unchanged")}
	for key, value := range someKeys.Draw(t, "set labels") {
		p.SetLabel(key, value)
	}
	for key, value := range someKeys.Draw(t, "set annotations") {
		if p.SetAnnotation(key, value); value == "" {
			p.RemoveAnnotation(key)
		}
	}
	for _, name := range someList.Draw(t, "images") {
		p.SetImage(name, "i:"+someValues.Draw(t, "image"))
	}
	for _, name := range someList.Draw(t, "set conditions") {
		c := condition(corev1.PodConditionType(name), "False", someValues.Draw(t, "new reason"), someValues.Draw(t, "message"))
		if rapid.Bool().Draw(t, "zero time") {
			c.LastTransitionTime = metav1.Time{}
		}
		p.SetCondition(c)
	}
	if rapid.Bool().Draw(t, "add owner") {
		p.AddOwner = &metav1.OwnerReference{Kind: "New", Name: "o", UID: types.UID(someNames.Draw(t, "owner")), Controller: new(true)}
	}
	if rapid.Bool().Draw(t, "remove owner") {
		p.RemoveOwner = types.UID(someNames.Draw(t, "old owner"))
	}
	if rapid.Bool().Draw(t, "metadata") {
		p.Metadata = drawMetadata(t)
	}
	return p
}

// drawMetadata returns a metadata patch of the forms that Calculate and OpenKruise make. Among them are a null for what ends as a
// whole, and an order without an addition.
func drawMetadata(t *rapid.T) []byte {
	meta := map[string]any{}
	for _, field := range []string{"labels", "annotations"} {
		switch rapid.IntRange(0, 2).Draw(t, field+" patched") {
		case 1:
			changes := map[string]any{}
			for key, value := range someKeys.Draw(t, field+" changed") {
				if changes[key] = value; value == "" {
					changes[key] = nil
				}
			}
			meta[field] = changes
		case 2:
			meta[field] = nil
		}
	}
	order := someList.Draw(t, "order")
	keep := rapid.IntRange(0, len(order)).Draw(t, "added of them")
	switch rapid.IntRange(0, 4).Draw(t, "finalizers patched") {
	case 1:
		meta["finalizers"] = order
	case 2:
		if keep < len(order) { // no addition at all is no list
			meta["finalizers"], meta["$setElementOrder/finalizers"] = order[keep:], order
		}
	case 3:
		meta["$deleteFromPrimitiveList/finalizers"] = someList.Draw(t, "removed")
		meta["$setElementOrder/finalizers"] = order
	case 4:
		meta["finalizers"] = nil
	}
	data, err := json.Marshal(map[string]any{"metadata": meta})
	if err != nil {
		t.Fatal(err)
	}
	return data
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
