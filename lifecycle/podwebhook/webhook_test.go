// SPDX-License-Identifier: Apache-2.0

package podwebhook_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/lifecycle/launchpriority"
	"github.com/podwright/podwright/lifecycle/podreadiness"
	"github.com/podwright/podwright/lifecycle/podwebhook"
)

func create(pod string) *admissionv1.AdmissionRequest {
	request := &admissionv1.AdmissionRequest{Kind: metav1.GroupVersionKind{Version: "v1", Kind: "Pod"}, Operation: admissionv1.Create, Namespace: "default"}
	request.Object.Raw = []byte(pod)
	return request
}

const prioritised = `{"metadata":{"name":"web"},"spec":{"containers":[
	{"name":"main","newField":{"a":1}},
	{"name":"proxy","env":[{"name":"KRUISE_CONTAINER_PRIORITY","value":"100"}]}]}}`

// TestAdmission plays what the webhook answers, in testdata/admission: see conformance.PlayAdmission. Its steps are named by steps=(launch,…).
func TestAdmission(t *testing.T) {
	conformance.PlayAdmission(t, "testdata/admission", conformance.Admission{
		Kind: "Pod", Group: "core", Versions: []string{"v1"}, Resource: "pods",
		Object: "{metadata: {name: web}, spec: {containers: [{name: main}, {name: proxy}]}}",
		New: func(args map[string][]string) conformance.Served {
			w, sidecar, annotations := &podwebhook.Webhook{}, corev1.Container{Name: "sidecar"}, map[string]string(nil)
			inject := func(_ context.Context, _ *admissionv1.AdmissionRequest, pod *corev1.Pod) error {
				pod.Spec.Containers, pod.Annotations = append(pod.Spec.Containers, sidecar), annotations
				return nil
			}
			for _, step := range args["steps"] {
				switch step {
				case "launch":
					w.LaunchPriority = launchpriority.Mutate
				case "readiness":
					w.Readiness = podreadiness.Mutate
				case "readiness-of-all":
					w.Readiness = podreadiness.MutateAll
				case "sidecar":
					w.Sidecars = inject
				case "prior-sidecar":
					w.Sidecars, sidecar.Env = inject, []corev1.EnvVar{{Name: "KRUISE_CONTAINER_PRIORITY", Value: "9"}}
				case "ordered":
					annotations = map[string]string{"apps.kruise.io/container-launch-priority": "Ordered"}
				case "forbids":
					w.Sidecars = func(context.Context, *admissionv1.AdmissionRequest, *corev1.Pod) error {
						return fmt.Errorf("step: %w", apierrors.NewForbidden(corev1.Resource("pods"), "web", errors.New("no")))
					}
				}
			}
			return w
		}})
}

func TestGeneratedName(t *testing.T) {
	webhook := &podwebhook.Webhook{LaunchPriority: launchpriority.Mutate}
	names := map[string]bool{}
	for range 3 {
		patch := string(webhook.Default(t.Context(), create(strings.Replace(prioritised, `"name":"web"`, `"generateName":"web-"`, 1))).Patch)
		name := regexp.MustCompile(`"path":"/metadata/name","value":"(web-[a-z0-9]{5})"`).FindStringSubmatch(patch)
		if name == nil || strings.Count(patch, `"name":"`+name[1]+`-barrier"`) != 2 {
			t.Fatalf("LP-6: no name in %s", patch)
		}
		names[name[1]] = true
	}
	if len(names) < 2 {
		t.Errorf("LP-6: the names are the same: %v", names)
	}
}

// The steps are called in the order of the fields.
func TestSteps(t *testing.T) {
	var called []string
	step := func(name string) podwebhook.Mutator {
		return func(context.Context, *admissionv1.AdmissionRequest, *corev1.Pod) error {
			called = append(called, name)
			return nil
		}
	}
	webhook := &podwebhook.Webhook{
		PersistentPodState: step("persistent pod state"), LaunchPriority: step("launch priority"), Sidecars: step("sidecars"), Spread: step("spread"), Readiness: step("readiness"),
	}
	webhook.Default(t.Context(), create(prioritised))
	if diff := cmp.Diff([]string{"readiness", "spread", "sidecars", "launch priority", "persistent pod state"}, called); diff != "" {
		t.Errorf("LP-1: steps (-want +got):\n%s", diff)
	}
}

// Whatever is sent, there is an answer, with a reason if it refuses.
func FuzzDefault(f *testing.F) {
	f.Add([]byte(prioritised))
	f.Add([]byte(`{"metadata":{"name":"w","annotations":{"apps.kruise.io/container-launch-priority":"Ordered"}},"spec":{"containers":[{},{}]}}`))
	f.Add([]byte(`{"spec":{"containers":[{"env":null},{"env":[null]}]}}`))
	f.Add([]byte(`[]`))
	webhook := &podwebhook.Webhook{LaunchPriority: launchpriority.Mutate}
	f.Fuzz(func(t *testing.T, pod []byte) {
		response := webhook.Default(t.Context(), create(string(pod)))
		if response == nil || response.Allowed == (response.Result != nil) {
			t.Errorf("answer %+v", response)
		}
	})
}
