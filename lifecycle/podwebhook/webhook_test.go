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

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

func barrierJSON(configMap, key string) string {
	return fmt.Sprintf(`{"name":"KRUISE_CONTAINER_BARRIER","valueFrom":{"configMapKeyRef":{"key":%q,"name":%q}}}`, key, configMap)
}

func TestLaunchPriority(t *testing.T) {
	webhook := &podwebhook.Webhook{LaunchPriority: launchpriority.Mutate}
	for _, test := range []struct {
		name, pod string
		want      string // the patch
	}{
		{"LP-5: a barrier for each, and nothing else", prioritised, `[` +
			`{"op":"add","path":"/spec/containers/0/env","value":[` + barrierJSON("web-barrier", "p_0") + `]},` +
			`{"op":"replace","path":"/spec/containers/1/env","value":[{"name":"KRUISE_CONTAINER_PRIORITY","value":"100"},` + barrierJSON("web-barrier", "p_100") + `]}]`},
		{"LP-2: one container", `{"metadata":{"name":"web"},"spec":{"containers":[{"name":"main","env":[{"name":"KRUISE_CONTAINER_PRIORITY","value":"abc"}]}]}}`, ""},
		{"LP-4: no order is asked for", `{"metadata":{"name":"web"},"spec":{"containers":[{"name":"main"},{"name":"proxy"}]}}`, ""},
		{"LP-6: the name stays empty where nothing is injected", `{"metadata":{"generateName":"web-"},"spec":{"containers":[{"name":"main"},{"name":"proxy"}]}}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			response := webhook.Default(t.Context(), create(test.pod))
			if !response.Allowed {
				t.Fatalf("refused: %+v", response.Result)
			}
			if diff := cmp.Diff(test.want, string(response.Patch)); diff != "" {
				t.Errorf("patch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadiness(t *testing.T) {
	const owned = `{"metadata":{"name":"web","ownerReferences":[{"apiVersion":"apps.kruise.io/v1alpha1","kind":"BroadcastJob","name":"j","uid":"j","controller":true}]},"spec":{}}`
	const alone = `{"metadata":{"name":"web"},"spec":{"readinessGates":[{"conditionType":"a"}]}}`
	const gate = `[{"op":"add","path":"/spec/readinessGates","value":[{"conditionType":"KruisePodReady"}]}]`
	for _, test := range []struct {
		name      string
		readiness podwebhook.Mutator
		pod, want string // the patch
	}{
		{"PR-1: the controller is of the group", podreadiness.Mutate, owned, gate},
		{"PR-1: no controller of the group", podreadiness.Mutate, alone, ""},
		{"PR-1: all pods", podreadiness.MutateAll, alone,
			`[{"op":"replace","path":"/spec/readinessGates","value":[{"conditionType":"a"},{"conditionType":"KruisePodReady"}]}]`},
		{"nobody adds gates", nil, owned, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			response := (&podwebhook.Webhook{Readiness: test.readiness}).Default(t.Context(), create(test.pod))
			if diff := cmp.Diff(test.want, string(response.Patch)); diff != "" || !response.Allowed {
				t.Errorf("allowed %t, patch (-want +got):\n%s", response.Allowed, diff)
			}
		})
	}
}

// A pod that asks for enhanced liveness probes, of which OpenKruise from 1.7 on takes the probes off, keeps them, whatever else it gets.
func TestLivenessProbesStay(t *testing.T) {
	const pod = `{"metadata":{"name":"web","annotations":{"apps.kruise.io/using-enhanced-liveness":"true"},
		"ownerReferences":[{"apiVersion":"apps.kruise.io/v1alpha1","kind":"BroadcastJob","name":"web","uid":"w","controller":true}]},"spec":{"containers":[
		{"name":"main","livenessProbe":{"tcpSocket":{"port":80}}},
		{"name":"proxy","livenessProbe":{"tcpSocket":{"port":81}},"env":[{"name":"KRUISE_CONTAINER_PRIORITY","value":"100"}]}]}}`
	response := (&podwebhook.Webhook{Readiness: podreadiness.Mutate, LaunchPriority: launchpriority.Mutate}).Default(t.Context(), create(pod))
	if !response.Allowed || len(response.Patch) == 0 {
		t.Fatalf("allowed %t, patch %s", response.Allowed, response.Patch)
	}
	for _, touched := range []string{"livenessProbe", "/metadata/annotations", "container-probe-context"} {
		if strings.Contains(string(response.Patch), touched) {
			t.Errorf("the patch is about %s: %s", touched, response.Patch)
		}
	}
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

func TestRefused(t *testing.T) {
	bad := strings.Replace(prioritised, `"100"`, `"abc"`, 1)
	forbids := func(context.Context, *admissionv1.AdmissionRequest, *corev1.Pod) error {
		return fmt.Errorf("step: %w", apierrors.NewForbidden(corev1.Resource("pods"), "web", errors.New("no")))
	}
	for _, test := range []struct {
		name    string
		webhook podwebhook.Webhook
		pod     string
		code    int32
		message string
	}{
		{"LP-E3: no integer", podwebhook.Webhook{LaunchPriority: launchpriority.Mutate}, bad, http.StatusInternalServerError,
			`spec.containers[proxy].env[KRUISE_CONTAINER_PRIORITY].value: Invalid value: "abc": the launch priority must be a decimal integer`},
		{"the code of a step", podwebhook.Webhook{Sidecars: forbids, LaunchPriority: launchpriority.Mutate}, bad, http.StatusForbidden, "step: pods"},
		{"no pod", podwebhook.Webhook{}, `{"spec":[]}`, http.StatusBadRequest, "object"},
	} {
		t.Run(test.name, func(t *testing.T) {
			response := test.webhook.Default(t.Context(), create(test.pod))
			if response.Allowed || response.Result.Code != test.code || !strings.Contains(response.Result.Message, test.message) {
				t.Errorf("answer %+v %+v, want code %d and %q", response, response.Result, test.code, test.message)
			}
		})
	}
}

func TestIgnored(t *testing.T) {
	fails := func(context.Context, *admissionv1.AdmissionRequest, *corev1.Pod) error { return errors.New("called") }
	webhook := &podwebhook.Webhook{LaunchPriority: fails}
	for name, change := range map[string]func(*admissionv1.AdmissionRequest){
		"UPDATE":            func(r *admissionv1.AdmissionRequest) { r.Operation = admissionv1.Update },
		"a subresource":     func(r *admissionv1.AdmissionRequest) { r.SubResource = "eviction" },
		"another kind":      func(r *admissionv1.AdmissionRequest) { r.Kind.Kind = "Binding" },
		"a Pod that is not": func(r *admissionv1.AdmissionRequest) { r.Kind.Group = "metrics.k8s.io" },
	} {
		request := create(prioritised)
		change(request)
		if response := webhook.Default(t.Context(), request); !response.Allowed || response.Patch != nil {
			t.Errorf("%s: %+v", name, response)
		}
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

// What sidecars bring counts for the order.
func TestOrder(t *testing.T) {
	const given = `{"metadata":{"name":"web"},"spec":{"containers":[{"name":"main"}]}}`
	inject := func(change func(*corev1.Pod)) podwebhook.Mutator {
		return func(_ context.Context, _ *admissionv1.AdmissionRequest, pod *corev1.Pod) error {
			pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "sidecar"})
			change(pod)
			return nil
		}
	}
	for _, test := range []struct {
		name     string
		sidecars podwebhook.Mutator
		want     string // the keys
	}{
		{"LP-1: the priority of a sidecar", inject(func(pod *corev1.Pod) {
			pod.Spec.Containers[1].Env = []corev1.EnvVar{{Name: "KRUISE_CONTAINER_PRIORITY", Value: "9"}}
		}), "p_0 p_9"},
		{"LP-E11: the annotation that a sidecar brings", inject(func(pod *corev1.Pod) {
			pod.Annotations = map[string]string{"apps.kruise.io/container-launch-priority": "Ordered"}
		}), "p_0 p_-1"},
		{"LP-E2: two containers by injection, and no order", inject(func(*corev1.Pod) {}), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			webhook := &podwebhook.Webhook{Sidecars: test.sidecars, LaunchPriority: launchpriority.Mutate}
			patch := string(webhook.Default(t.Context(), create(given)).Patch)
			var keys []string
			for _, found := range regexp.MustCompile(`"key":"([^"]*)"`).FindAllStringSubmatch(patch, -1) {
				keys = append(keys, found[1])
			}
			if got := strings.Join(keys, " "); got != test.want {
				t.Errorf("keys %s, want %s, in %s", got, test.want, patch)
			}
		})
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
