// SPDX-License-Identifier: Apache-2.0

package podpatch_test

import (
	"encoding/json"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/podpatch"
)

var at = metav1.NewTime(time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC))

// testPod has something of everything that a patch can change.
func testPod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web-x7k2p", UID: "u1", ResourceVersion: "42",
			Labels:          map[string]string{"app": "web", "rev": "a"},
			Annotations:     map[string]string{"note": "old"},
			Finalizers:      []string{"example.com/held"},
			OwnerReferences: []metav1.OwnerReference{{UID: "o1", Name: "web"}, {UID: "o2", Name: "other"}},
		},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{Name: "init", Image: "init:1"},
				{Name: "proxy", Image: "proxy:1", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}},
			Containers: []corev1.Container{{Name: "web", Image: "web:1", Resources: cpu("1", "1")},
				{Name: "log", Image: "log:1", Resources: cpu("", "1")}},
		},
		Status: corev1.PodStatus{Conditions: []corev1.PodCondition{
			{Type: "A", Status: "True", ObservedGeneration: 7},
			{Type: "B", Status: "False", Reason: "Why", Message: "because"},
		}},
	}
}

// cpu are limits and requests of cpu; empty ones are none.
func cpu(limit, request string) (r corev1.ResourceRequirements) {
	if limit != "" {
		r.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(limit)}
	}
	if request != "" {
		r.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(request)}
	}
	return r
}

func condition(t corev1.PodConditionType, status corev1.ConditionStatus, reason, message string) corev1.PodCondition {
	return corev1.PodCondition{Type: t, Status: status, Reason: reason, Message: message, LastTransitionTime: at}
}

// A metadata patch comes from templates that users write.
func FuzzMetadata(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `[]`, `{"metadata":null}`, `{"metadata":{"labels":null}}`, `{"metadata":{"labels":{"a":"b","c":null}}}`,
		`{"metadata":{"labels":5}}`, `{"metadata":{"labels":{"rev":{}}}}`,
		`{"metadata":{"$setElementOrder/finalizers":["g"],"finalizers":["g"]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, metadata []byte) {
		p := podpatch.Patch{Metadata: metadata, AddFinalizers: []string{"f"}}
		p.SetLabel("rev", "b")
		writes, err := p.Writes(testPod())
		if err != nil {
			return
		}
		for _, w := range writes {
			var patch struct {
				Metadata struct {
					UID    string         `json:"uid"`
					Labels map[string]any `json:"labels"`
				} `json:"metadata"`
			}
			if err := json.Unmarshal(w.Data, &patch); err != nil {
				t.Fatalf("write is no patch: %v: %s", err, w.Data)
			}
			if patch.Metadata.UID != "u1" || patch.Metadata.Labels["rev"] != "b" {
				t.Errorf("write lost the UID or the label: %s", w.Data)
			}
		}
	})
}

func BenchmarkWrites(b *testing.B) {
	pod := testPod()
	b.Run("nothing to write", func(b *testing.B) {
		var p podpatch.Patch
		p.SetLabel("rev", "a")
		b.ReportAllocs()
		for b.Loop() {
			if w, err := p.Writes(pod); err != nil || len(w) != 0 {
				b.Fatal(w, err)
			}
		}
	})
	b.Run("condition, label and image", func(b *testing.B) {
		var p podpatch.Patch
		p.SetLabel("rev", "b")
		p.SetImage("web", "web:2")
		p.SetCondition(condition("A", "False", "", ""))
		b.ReportAllocs()
		for b.Loop() {
			if w, err := p.Writes(pod); err != nil || len(w) != 2 {
				b.Fatal(w, err)
			}
		}
	})
}
