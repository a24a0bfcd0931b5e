// SPDX-License-Identifier: Apache-2.0

package images

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

var job = &v1alpha1.ImagePullJob{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "pull", UID: "uid"}}

func nodeImage() *v1alpha1.NodeImage {
	return &v1alpha1.NodeImage{
		ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "n-uid", ResourceVersion: "5"},
		Spec: v1alpha1.NodeImageSpec{Images: map[string]v1alpha1.ImageSpec{"nginx": {Tags: []v1alpha1.ImageTagSpec{
			{Tag: "1", OwnerReferences: []corev1.ObjectReference{TaskOwner(job), {Kind: "Other", UID: "other"}}}, {Tag: "2"}}}}},
		Status: v1alpha1.NodeImageStatus{ImageStatuses: map[string]v1alpha1.ImageStatus{"nginx": {Tags: []v1alpha1.ImageTagStatus{{Tag: "2", Version: 4}}}}},
	}
}

func TestFind(t *testing.T) {
	n := nodeImage()
	for image, want := range map[string]*v1alpha1.ImageTagSpec{
		"docker.io/library/nginx:2": &n.Spec.Images["nginx"].Tags[1], "nginx": nil, "nginx:3": nil, "quay.io/nginx:1": nil,
	} {
		r, err := ParseReference(image)
		if err != nil {
			t.Fatal(err)
		}
		if got := FindTask(n, r); got != want {
			t.Errorf("Find(%s) gives %+v", image, got)
		}
	}
	if got := StatusOf(n, "nginx", "2"); got == nil || got.Version != 4 || StatusOf(n, "nginx", "1") != nil || StatusOf(n, "redis", "2") != nil {
		t.Errorf("StatusOf gives %+v", got)
	}
}

func TestOwners(t *testing.T) {
	n := nodeImage()
	want := corev1.ObjectReference{APIVersion: "apps.kruise.io/v1alpha1", Kind: "ImagePullJob", Namespace: "default", Name: "pull", UID: "uid"}
	if diff := cmp.Diff([]corev1.ObjectReference{want}, TaskJobs(n)); diff != "" {
		t.Errorf("IMG-1.4: references to jobs (-want +got):\n%s", diff)
	}
	task := &n.Spec.Images["nginx"].Tags[0]
	if !IsTaskOwner(task, "uid") || !IsTaskOwner(task, "other") || IsTaskOwner(task, "nobody") {
		t.Error("IsOwner is wrong")
	}
	if name, ok := TaskJob(want); !ok || name != (types.NamespacedName{Namespace: "default", Name: "pull"}) {
		t.Errorf("JobOf gives %v, %t", name, ok)
	}
	if _, ok := TaskJob(corev1.ObjectReference{APIVersion: "apps.kruise.io/v1beta1", Kind: "ImagePullJob"}); !ok {
		t.Error("IMG-1.7: a job that OpenKruise 1.9 names in v1beta1 is taken for none")
	}
	for _, other := range []corev1.ObjectReference{
		{APIVersion: "apps/v1", Kind: "ImagePullJob"}, {APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet"}, {APIVersion: "a/b/c", Kind: "ImagePullJob"}, {},
	} {
		if _, ok := TaskJob(other); ok {
			t.Errorf("%v is taken for a job", other)
		}
	}
}

func TestSpread(t *testing.T) {
	counts := make([]int, 10)
	for i := range 10000 {
		counts[Spread(10, "uid", fmt.Sprint("node-", i))]++
	}
	for n, count := range counts {
		if count < 800 || count > 1200 {
			t.Errorf("%d comes %d times of 10000", n, count)
		}
	}
	if Spread(1000, "a", "bc") == Spread(1000, "ab", "c") {
		t.Error("keys run into each other")
	}
}

func TestPatch(t *testing.T) {
	type part struct {
		Metadata struct {
			Labels map[string]string `json:"labels,omitempty"`
		} `json:"metadata"`
		Count int64 `json:"count,omitempty"`
	}
	before, after := part{}, part{Count: 1<<62 + 1}
	before.Metadata.Labels = map[string]string{"a": "1", "b": "2"}
	after.Metadata.Labels = map[string]string{"b": "3"}
	data, err := Patch(nodeImage(), before, after)
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	text := `{"count":4611686018427387905,"metadata":{"labels":{"a":null,"b":"3"},"uid":"n-uid","resourceVersion":"5"}}`
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("patch (-want +got):\n%s", diff)
	}
	if _, err := Patch(nodeImage(), func() {}, nil); err == nil {
		t.Error("no error for what is no JSON")
	}
	if _, err := Patch(nodeImage(), nil, func() {}); err == nil {
		t.Error("no error for what is no JSON")
	}
}
