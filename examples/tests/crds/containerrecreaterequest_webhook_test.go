// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/lifecycle/recreate"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// recreateSpecs are lines of a spec. Each is tried as a new request, and as a
// change from and to every other one.
var recreateSpecs = []string{
	"", "podName: ''", "podName: web-1", "containers: []", "containers: [{name: ''}]", "containers: [{name: main}, {name: side}]", "containers: [{name: side}]",
	"activeDeadlineSeconds: 2", "activeDeadlineSeconds: 3", "activeDeadlineSeconds: -1", "ttlSecondsAfterFinished: 0", "ttlSecondsAfterFinished: -1",
	"strategy: {}", "strategy: {failurePolicy: ''}", "strategy: {failurePolicy: Fail}", "strategy: {failurePolicy: Ignore}", "strategy: {failurePolicy: fail}",
	"strategy: {orderedRecreate: true}", "strategy: {orderedRecreate: false}", "strategy: {forceRecreate: true}", "strategy: {minStartedSeconds: -1}", "strategy: {minStartedSeconds: 0}",
	"strategy: {terminationGracePeriodSeconds: -1}", "strategy: {terminationGracePeriodSeconds: 0}",
	"strategy: {unreadyGracePeriodSeconds: -1}", "strategy: {unreadyGracePeriodSeconds: 0}",
}

// askRecreateWebhook is what the webhook says of a new request, or of a change.
// The pod that it finds is right for every name.
func askRecreateWebhook(t *testing.T, object, old string) field.ErrorList {
	t.Helper()
	request := decodeRecreate(t, object)
	if old != "" {
		return recreate.ValidateUpdate(request, decodeRecreate(t, old))
	}
	if errs := recreate.ValidateCreate(request); len(errs) > 0 {
		return errs
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: request.Spec.PodName}, Spec: corev1.PodSpec{NodeName: "node-1"}}
	for _, name := range []string{"main", "side"} {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: name})
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: name, ContainerID: "a://1"})
	}
	return recreate.ValidatePod(request, pod)
}

func decodeRecreate(t *testing.T, text string) *lifecyclev1alpha1.ContainerRecreateRequest {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	request := &lifecyclev1alpha1.ContainerRecreateRequest{}
	if err := json.Unmarshal(data, request); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return request
}

// The rules of the definition and the webhook refuse the same. So a user without the webhook is as
// safe as one with it. Changes are compared between requests that can be created.
func TestContainerRecreateRequestRulesAndWebhookAgree(t *testing.T) {
	v := newValidator(t, "containerrecreaterequests.apps.kruise.io", "v1alpha1")
	compare := func(object, old string) (right bool) {
		t.Helper()
		rules, errs := v.judge(t, object, old), askRecreateWebhook(t, object, old)
		if (len(rules) == 0) != (len(errs) == 0) {
			t.Errorf("%s\nfrom %s\nrules: %q\nwebhook: %v", object, old, rules, errs)
		}
		return len(errs) == 0
	}
	var right []string
	for _, lines := range recreateSpecs {
		if object := recreateRequest(lines); compare(object, "") {
			right = append(right, object)
		}
	}
	if len(right) < 10 {
		t.Fatalf("only %d requests are right", len(right))
	}
	for _, filled := range []string{
		"containers: [{name: main, statusContext: {containerID: 'a://1', restartCount: 0}}]",
		"containers: [{name: main, statusContext: {containerID: 'a://2', restartCount: 0}}]",
		"containers: [{name: main, preStop: {exec: {command: [bye]}}}]",
		"containers: [{name: main, preStop: {httpGet: {port: http}}, ports: [{name: http, containerPort: 80}]}]",
	} {
		right = append(right, recreateRequest(filled))
	}
	for _, to := range right {
		for _, from := range right {
			compare(to, from)
		}
	}
	// A client that does not know a hook writes the request back.
	compare(recreateRequest("containers: [{name: main, preStop: {}}]"), recreateRequest("containers: [{name: main, preStop: {sleep: {seconds: 3}}}]"))
}

// What the rules cannot say, or must not cost, is the webhook's alone.
func TestContainerRecreateRequestRulesThatOnlyTheWebhookHas(t *testing.T) {
	v := newValidator(t, "containerrecreaterequests.apps.kruise.io", "v1alpha1")
	const sleeping = "containers: [{name: main, preStop: {sleep: {seconds: 3}}}]"
	for _, test := range []struct{ name, spec, old, want string }{
		{"a container twice", "containers: [{name: main}, {name: main}]", "", "spec.containers[1].name"},
		{"a container that the pod does not have", "containers: [{name: other}]", "", "spec.containers[0].name"},
		{"what is copied from the pod", "containers: [{name: main, statusContext: {containerID: 'a://1', restartCount: 0}}]", "", "spec.containers[0].statusContext"},
		{"another container beside a hook that clients may not know", "containers: [{name: side}]", sleeping, "spec"},
	} {
		t.Run(test.name, func(t *testing.T) {
			old := ""
			if test.old != "" {
				old = recreateRequest(test.old)
			}
			check(t, nil, v.judge(t, recreateRequest(test.spec), old))
			var got []string
			for _, err := range askRecreateWebhook(t, recreateRequest(test.spec), old) {
				got = append(got, err.Field)
			}
			check(t, []string{test.want}, got)
		})
	}
}

// The webhook guards the labels, and no other metadata.
func TestContainerRecreateRequestMetadata(t *testing.T) {
	v := newValidator(t, "containerrecreaterequests.apps.kruise.io", "v1alpha1")
	labelled := func(uid string) string {
		return strings.Replace(recreateRequest(""), "{name: restart}", "{name: restart, labels: {crr.apps.kruise.io/pod-uid: "+uid+"}}", 1)
	}
	check(t, nil, v.judge(t, labelled("b"), labelled("a")))
	if errs := askRecreateWebhook(t, labelled("b"), labelled("a")); len(errs) != 1 {
		t.Errorf("CRR-3.1: errors %v, want one about the label", errs)
	}
}
