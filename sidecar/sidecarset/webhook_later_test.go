// SPDX-License-Identifier: Apache-2.0

package sidecarset_test

import (
	"encoding/json"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// What the webhook configurations of OpenKruise 1.9 ask about in v1beta1 is judged as well, and keeps what this version alone has. (SCS-V7)
func TestWebhookOfV1beta1(t *testing.T) {
	set := setWith(`"customVersion":"v1","namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"shop"}}`)
	r := request(admissionv1.Create, strings.Replace(set, `{"metadata"`, `{"apiVersion":"apps.kruise.io/v1beta1","kind":"SidecarSet","metadata"`, 1), "")
	r.Kind.Version, r.Resource.Version = "v1beta1", "v1beta1"
	webhook := &sidecarset.Webhook{}
	if answer := webhook.Validate(t.Context(), r); !answer.Allowed {
		t.Errorf("refused: %v", answer.Result)
	}
	if got := applied(t, webhook, r); got.APIVersion != "apps.kruise.io/v1beta1" || got.Annotations[v1alpha1.SidecarSetHashAnnotation] == "" {
		t.Errorf("%+v", got)
	}
	if patch := string(webhook.Default(t.Context(), r).Patch); strings.Contains(patch, "customVersion") {
		t.Errorf("the patch touches customVersion: %s", patch)
	}
}

// Each pod has a lot of its own, which decides whether it gets the earlier revision. (SCS-31)
func TestInjectorDrawsLots(t *testing.T) {
	earlier := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: "demo-1", Labels: map[string]string{v1alpha1.SidecarSetNameLabel: "demo"}},
		Data: runtime.RawExtension{Raw: []byte(`{"spec":{"containers":[{"name":"log","image":"log:0"}]}}`)}}
	set := setOf(t, "demo", "{containers: [{name: log, image: 'log:1'}], injectionStrategy: {revision: {revisionName: demo-1, policy: Partial}}, updateStrategy: {partition: 50%}}")
	reader := &known{sets: []*v1alpha1.SidecarSet{set}, revisions: []*appsv1.ControllerRevision{earlier}}
	var lot float64
	given, random := &sidecarset.Injector{Reader: reader, Lot: func() float64 { lot += 0.4; return lot }}, &sidecarset.Injector{Reader: reader}
	image := func(i *sidecarset.Injector) string {
		pod := &corev1.Pod{}
		if err := json.Unmarshal([]byte(plainPod), pod); err != nil {
			t.Fatal(err)
		}
		if err := i.Mutate(t.Context(), createPod(plainPod), pod); err != nil {
			t.Fatal(err)
		}
		return pod.Spec.Containers[0].Image
	}
	if first, second := image(given), image(given); first != "log:0" || second != "log:1" {
		t.Errorf("lots 0.4 and 0.8 of 50%%: %s and %s", first, second)
	}
	images := map[string]int{}
	for range 200 { // one and the same 200 times has a probability of 2 in 2^200
		images[image(random)]++
	}
	if len(images) != 2 || images["log:0"]+images["log:1"] != 200 {
		t.Errorf("by lot: %v", images)
	}
}
