// SPDX-License-Identifier: Apache-2.0

package podwebhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

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

// given is what a script says in YAML: the pod, what the step of sidecars adds to it, and what differs about the request.
type given struct {
	Pod         json.RawMessage
	Sidecar     corev1.Container
	Annotations map[string]string
	Request     json.RawMessage
}

// steps are those of a webhook, by the words of scripts.
func (g *given) steps(words []datadriven.CmdArg) *podwebhook.Webhook {
	w := &podwebhook.Webhook{}
	for _, word := range words {
		switch word.Key {
		case "launch":
			w.LaunchPriority = launchpriority.Mutate
		case "readiness":
			w.Readiness = podreadiness.Mutate
		case "readiness-of-all":
			w.Readiness = podreadiness.MutateAll
		case "sidecar":
			w.Sidecars = func(_ context.Context, _ *admissionv1.AdmissionRequest, pod *corev1.Pod) error {
				pod.Spec.Containers, pod.Annotations = append(pod.Spec.Containers, g.Sidecar), g.Annotations
				return nil
			}
		case "forbids":
			w.Sidecars = func(context.Context, *admissionv1.AdmissionRequest, *corev1.Pod) error {
				return fmt.Errorf("step: %w", apierrors.NewForbidden(corev1.Resource("pods"), "web", errors.New("no")))
			}
		}
	}
	return w
}

// TestPods shows in testdata/pods.txt what the webhook answers: a patch, or why it refuses a pod.
func TestPods(t *testing.T) {
	datadriven.RunTest(t, "testdata/pods.txt", func(t *testing.T, d *datadriven.TestData) string {
		var g given
		if err := yaml.UnmarshalStrict([]byte(d.Input), &g); err != nil {
			t.Fatal(err)
		}
		request := create(string(g.Pod))
		if g.Request != nil {
			if err := json.Unmarshal(g.Request, request); err != nil {
				t.Fatal(err)
			}
		}
		response := g.steps(d.CmdArgs).Default(t.Context(), request)
		switch {
		case !response.Allowed:
			return conformance.Verdict(response) + "\n"
		case len(response.Patch) == 0:
			return "nothing\n"
		}
		return string(response.Patch) + "\n"
	})
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

func TestHandlers(t *testing.T) {
	handlers := (&podwebhook.Webhook{LaunchPriority: launchpriority.Mutate}).Handlers()
	handler := handlers["/mutate-pod"]
	if len(handlers) != 1 || handler == nil {
		t.Fatalf("handlers %v", handlers)
	}
	review := &admissionv1.AdmissionReview{TypeMeta: metav1.TypeMeta{Kind: "AdmissionReview", APIVersion: "admission.k8s.io/v1"}, Request: create(prioritised)}
	review.Request.UID = "1"
	body, err := json.Marshal(review)
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequest(http.MethodPost, podwebhook.MutatePath, bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	if recorder.Code != http.StatusOK || !strings.Contains(recorder.Body.String(), `"allowed":true`) || !strings.Contains(recorder.Body.String(), `"uid":"1"`) {
		t.Errorf("answer %d %s", recorder.Code, recorder.Body)
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
