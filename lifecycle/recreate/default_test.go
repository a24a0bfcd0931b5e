// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/lifecycle/recreate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// hooked is a pod whose container main has a preStop hook and ports.
func hooked(hook corev1.LifecycleHandler) *corev1.Pod {
	return runningPod(func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: 80}}
		pod.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &hook}
	})
}

// CRR-3.3.
func TestDefault(t *testing.T) {
	exec := corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"bye"}}}
	get := corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/bye", Port: intstr.FromString("http")}}
	socket := corev1.LifecycleHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(80)}}
	sleep := corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 3}}
	ports := []corev1.ContainerPort{{Name: "http", ContainerPort: 80}}

	strategy := func(s v1alpha1.ContainerRecreateRequestStrategy) func(*v1alpha1.ContainerRecreateRequest) {
		return func(r *v1alpha1.ContainerRecreateRequest) { r.Spec.Strategy = &s }
	}
	main := func(c v1alpha1.ContainerRecreateRequestContainer) func(*v1alpha1.ContainerRecreateRequest) {
		c.Name, c.StatusContext = "main", &v1alpha1.ContainerRecreateRequestContainerContext{ContainerID: "containerd://m1", RestartCount: 1}
		return func(r *v1alpha1.ContainerRecreateRequest) {
			r.Spec.Containers = []v1alpha1.ContainerRecreateRequestContainer{c}
		}
	}
	filled := v1alpha1.ContainerRecreateRequestStrategy{FailurePolicy: "Fail", TerminationGracePeriodSeconds: new(int64(40))}
	labels := map[string]string{
		"crr.apps.kruise.io/active": "true", "crr.apps.kruise.io/node-name": "node-1", "crr.apps.kruise.io/pod-uid": "u",
	}
	for _, test := range []struct {
		name       string
		given      requestEdits
		pod        *corev1.Pod
		want       requestEdits
		wantLabels map[string]string // nil: those that every request gets
	}{
		{name: "nothing given, no hook", pod: runningPod(), want: requestEdits{strategy(filled), main(v1alpha1.ContainerRecreateRequestContainer{})}},
		{name: "an empty strategy", given: requestEdits{strategy(v1alpha1.ContainerRecreateRequestStrategy{})}, pod: runningPod(),
			want: requestEdits{strategy(filled), main(v1alpha1.ContainerRecreateRequestContainer{})}},
		{name: "a strategy that is given stays",
			given: requestEdits{strategy(v1alpha1.ContainerRecreateRequestStrategy{FailurePolicy: "Ignore", OrderedRecreate: true, TerminationGracePeriodSeconds: new(int64(0))})}, pod: runningPod(),
			want: requestEdits{strategy(v1alpha1.ContainerRecreateRequestStrategy{FailurePolicy: "Ignore", OrderedRecreate: true, TerminationGracePeriodSeconds: new(int64(0))}), main(v1alpha1.ContainerRecreateRequestContainer{})}},
		{name: "a pod without a grace period", pod: runningPod(func(pod *corev1.Pod) { pod.Spec.TerminationGracePeriodSeconds = nil }),
			want: requestEdits{strategy(v1alpha1.ContainerRecreateRequestStrategy{FailurePolicy: "Fail"}), main(v1alpha1.ContainerRecreateRequestContainer{})}},
		{name: "an exec hook comes without ports", pod: hooked(exec), want: requestEdits{strategy(filled), main(v1alpha1.ContainerRecreateRequestContainer{PreStop: &exec})}},
		{name: "an httpGet hook comes with ports", pod: hooked(get), want: requestEdits{strategy(filled), main(v1alpha1.ContainerRecreateRequestContainer{PreStop: &get, Ports: ports})}},
		{name: "a tcpSocket hook comes without ports", pod: hooked(socket), want: requestEdits{strategy(filled), main(v1alpha1.ContainerRecreateRequestContainer{PreStop: &socket})}},
		{name: "a hook that 1.4 did not know", pod: hooked(sleep), want: requestEdits{strategy(filled), main(v1alpha1.ContainerRecreateRequestContainer{PreStop: &sleep})}},
		{name: "labels that are given are replaced, others stay",
			given: requestEdits{func(r *v1alpha1.ContainerRecreateRequest) {
				r.Labels = map[string]string{"app": "web", v1alpha1.ContainerRecreateRequestPodUIDLabel: "forged"}
			}}, pod: runningPod(),
			want:       requestEdits{strategy(filled), main(v1alpha1.ContainerRecreateRequestContainer{})},
			wantLabels: map[string]string{"app": "web", "crr.apps.kruise.io/active": "true", "crr.apps.kruise.io/node-name": "node-1", "crr.apps.kruise.io/pod-uid": "u"}},
		{name: "quirk: the name of the node is taken as it is, also where it is no label value",
			pod:        runningPod(func(pod *corev1.Pod) { pod.Spec.NodeName = strings.Repeat("n", 64) }),
			want:       requestEdits{strategy(filled), main(v1alpha1.ContainerRecreateRequestContainer{})},
			wantLabels: map[string]string{"crr.apps.kruise.io/active": "true", "crr.apps.kruise.io/node-name": strings.Repeat("n", 64), "crr.apps.kruise.io/pod-uid": "u"}},
		{name: "a container that the pod does not have", given: requestEdits{containers("other")}, pod: runningPod(), want: requestEdits{strategy(filled), containers("other")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, want, before := newRequest(test.given...), newRequest(test.want...), test.pod.DeepCopy()
			if want.Labels = test.wantLabels; want.Labels == nil {
				want.Labels = labels
			}
			recreate.Default(got, test.pod)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("nothing else is set, no finalizer and no owner (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, test.pod); diff != "" {
				t.Errorf("the pod was changed:\n%s", diff)
			}
		})
	}
}
