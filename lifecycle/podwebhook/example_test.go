// SPDX-License-Identifier: Apache-2.0

package podwebhook_test

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/lifecycle/launchpriority"
	"github.com/podwright/podwright/lifecycle/podreadiness"
	"github.com/podwright/podwright/lifecycle/podwebhook"
)

// A sidecar of one's own, which starts before the containers of the pod.
func Example() {
	webhook := &podwebhook.Webhook{
		Sidecars: func(_ context.Context, _ *admissionv1.AdmissionRequest, pod *corev1.Pod) error {
			pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{
				Name: "proxy", Image: "proxy:1", Env: []corev1.EnvVar{{Name: "KRUISE_CONTAINER_PRIORITY", Value: "100"}},
			})
			return nil
		},
		Readiness:      podreadiness.Mutate,
		LaunchPriority: launchpriority.Mutate,
	}
	for path := range webhook.Handlers() {
		fmt.Println("serves", path)
	}

	// A webhook is a function: it can be tried without a server.
	request := &admissionv1.AdmissionRequest{Operation: admissionv1.Create}
	request.Kind.Version, request.Kind.Kind = "v1", "Pod"
	request.Object.Raw = []byte(`{"metadata":{"name":"web"},"spec":{"containers":[{"name":"main"}]}}`)
	fmt.Println(webhook.Default(context.Background(), request).Allowed)
	// Output:
	// serves /mutate-pod
	// true
}
