// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

func TestDefault(t *testing.T) {
	got := nodeImage(t, `{spec: {images: {nginx: {tags: [{tag: "2"}, {tag: "1", createdAt: "2020-01-01T00:00:00Z", version: 3, pullPolicy: {timeoutSeconds: 1, backoffLimit: 0}}]}}},
		status: {desired: 2, imageStatuses: {nginx: {tags: [{tag: "2", phase: Failed}, {tag: "1", phase: Pulling}]}}}}`)
	want := nodeImage(t, `{spec: {images: {nginx: {tags: [{tag: "1", createdAt: "2020-01-01T00:00:00Z", version: 3, pullPolicy: {timeoutSeconds: 1, backoffLimit: 0}},
		{tag: "2", createdAt: "2024-05-01T12:00:00Z", pullPolicy: {timeoutSeconds: 600, backoffLimit: 3}}]}}},
		status: {desired: 2, imageStatuses: {nginx: {tags: [{tag: "1", phase: Pulling}, {tag: "2", phase: Failed}]}}}}`)
	Default(got, noon)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("IMG-2.2: NodeImage (-want +got):\n%s", diff)
	}
}

func TestValidate(t *testing.T) {
	const good = `{tag: "1", createdAt: "2020-01-01T00:00:00Z", pullPolicy: {ttlSecondsAfterFinished: 1}}`
	images := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("image%d: {tags: [%s]}", i, good))
		}
		return "{" + strings.Join(all, ",") + "}"
	}
	tags := func(tags ...string) string { return "{a: {tags: [" + strings.Join(tags, ",") + "]}}" }
	for _, test := range []struct {
		name, images string
		want         []string
	}{
		{"IMG-2.2: right", tags(good), nil},
		{"IMG-2.2: 256 images", images(256), nil},
		{"IMG-2.2: more than 256 images", images(257), []string{"spec.images"}},
		{"IMG-2.2: an empty image name", `{"": {tags: []}}`, []string{"spec.images[]"}},
		{"IMG-2.2: an empty tag", tags(strings.Replace(good, `"1"`, `""`, 1)), []string{"spec.images[a].tags[0].tag"}},
		{"IMG-2.2: a duplicate tag", tags(good, good), []string{"spec.images[a].tags[1].tag"}},
		{"IMG-2.2: no createdAt", tags(`{tag: "1", pullPolicy: {ttlSecondsAfterFinished: 1}}`), []string{"spec.images[a].tags[0].createdAt"}},
		{"IMG-2.2: a version below 0", tags(strings.Replace(good, "{tag", "{version: -1, tag", 1)), []string{"spec.images[a].tags[0].version"}},
		{"IMG-2.2: no pullPolicy", tags(`{tag: "1", createdAt: "2020-01-01T00:00:00Z"}`), []string{"spec.images[a].tags[0].pullPolicy"}},
		{"IMG-2.2: no TTL", tags(`{tag: "1", createdAt: "2020-01-01T00:00:00Z", pullPolicy: {}}`), []string{"spec.images[a].tags[0].pullPolicy.ttlSecondsAfterFinished"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := nodeImage(t, "spec: {images: "+test.images+"}")
			var got []string
			for _, err := range ValidateCreate(n) {
				got = append(got, err.Field)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("fields (-want +got):\n%s", diff)
			}
			if errs := ValidateUpdate(n.DeepCopy(), n); len(errs) > 0 {
				t.Errorf("a spec that stays the same is refused: %v", errs)
			}
		})
	}
	old := nodeImage(t, "spec: {images: "+tags(`{tag: "0"}`)+"}")
	changed := nodeImage(t, "spec: {images: "+tags(`{tag: "0"}`, good)+"}")
	if errs := ValidateUpdate(changed, old); len(errs) > 0 {
		t.Errorf("a wrong task keeps others from being given: %v", errs)
	}
}

func request(t *testing.T, operation admissionv1.Operation, n, old *v1alpha1.NodeImage) *admissionv1.AdmissionRequest {
	t.Helper()
	r := &admissionv1.AdmissionRequest{
		Operation: operation, Name: "n1",
		Kind:     metav1.GroupVersionKind{Group: "apps.kruise.io", Version: "v1alpha1", Kind: "NodeImage"},
		Resource: metav1.GroupVersionResource{Group: "apps.kruise.io", Version: "v1alpha1", Resource: "nodeimages"},
	}
	for _, part := range []struct {
		from *v1alpha1.NodeImage
		to   *runtime.RawExtension
	}{{n, &r.Object}, {old, &r.OldObject}} {
		if part.from == nil {
			continue
		}
		var err error
		if part.to.Raw, err = json.Marshal(part.from); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func TestWebhook(t *testing.T) {
	right, wrong := nodeImage(t, ""), nodeImage(t, `spec: {images: {a: {tags: [{tag: "1"}]}}}`)
	labelled := right.DeepCopy()
	labelled.Labels = nil
	another := request(t, admissionv1.Create, wrong, nil)
	another.Kind.Kind = "ImagePullJob"
	broken := request(t, admissionv1.Create, right, nil)
	broken.Object.Raw = []byte(`{"spec":7}`)
	for _, test := range []struct {
		name     string
		noAgents bool
		request  *admissionv1.AdmissionRequest
		want     int32 // 0: allowed
	}{
		{"IMG-2.2: a right one is created", false, request(t, admissionv1.Create, right, nil), 0},
		{"IMG-2.2: a wrong one is not", false, request(t, admissionv1.Create, wrong, nil), http.StatusUnprocessableEntity},
		{"IMG-2.2: a wrong task is added", false, request(t, admissionv1.Update, wrong, right), http.StatusUnprocessableEntity},
		{"IMG-2.2: the gate is off", true, request(t, admissionv1.Create, right, nil), http.StatusForbidden},
		{"IMG-2.2: the gate is off, a change", true, request(t, admissionv1.Update, right, wrong), http.StatusForbidden},
		{"the gate is off, and the spec stays", true, request(t, admissionv1.Update, labelled, right), 0},
		{"deletions are not asked about", true, request(t, admissionv1.Delete, nil, right), 0},
		{"another kind", true, another, 0},
		{"no NodeImage at all", false, broken, http.StatusBadRequest},
	} {
		t.Run(test.name, func(t *testing.T) {
			response := (&Webhook{NoAgents: test.noAgents}).Validate(context.Background(), test.request)
			if got := code(response); got != test.want || response.Allowed != (test.want == 0) {
				t.Errorf("code %d, want %d: %+v", got, test.want, response.Result)
			}
		})
	}
	w := &Webhook{clock: clocktesting.NewFakePassiveClock(noon)}
	response := w.Default(context.Background(), request(t, admissionv1.Update, wrong, right))
	if !response.Allowed || !strings.Contains(string(response.Patch), "2024-05-01T12:00:00Z") {
		t.Errorf("IMG-2.2: no defaults: %s", response.Patch)
	}
	for _, r := range []*admissionv1.AdmissionRequest{another, request(t, admissionv1.Delete, nil, right)} {
		if response := (&Webhook{}).Default(context.Background(), r); !response.Allowed || response.Patch != nil {
			t.Errorf("defaults where there are none: %+v", response)
		}
	}
	if got := code((&Webhook{}).Default(context.Background(), broken)); got != http.StatusBadRequest {
		t.Errorf("code %d for no NodeImage at all", got)
	}
}

func code(r *admissionv1.AdmissionResponse) int32 {
	if r.Result == nil {
		return 0
	}
	return r.Result.Code
}

func TestHandlers(t *testing.T) {
	var got []string
	for path := range (&Webhook{}).Handlers() {
		got = append(got, path)
	}
	slices.Sort(got)
	want := []string{"/mutate-apps-kruise-io-v1alpha1-nodeimage", "/validate-apps-kruise-io-v1alpha1-nodeimage"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("PF-5.1: paths (-want +got):\n%s", diff)
	}
}
