// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/lifecycle/recreate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// texts are the errors as a user reads them.
func texts(errs field.ErrorList) []string {
	out := []string{}
	for _, err := range errs {
		out = append(out, err.Error())
	}
	return out
}

func policy(p v1alpha1.ContainerRecreateRequestFailurePolicyType) func(*v1alpha1.ContainerRecreateRequest) {
	return func(r *v1alpha1.ContainerRecreateRequest) {
		r.Spec.Strategy = &v1alpha1.ContainerRecreateRequestStrategy{FailurePolicy: p}
	}
}

func grace(seconds int64) func(*v1alpha1.ContainerRecreateRequest) {
	return func(r *v1alpha1.ContainerRecreateRequest) {
		r.Spec.Strategy = &v1alpha1.ContainerRecreateRequestStrategy{TerminationGracePeriodSeconds: &seconds}
	}
}

// CRR-3.2.1 to CRR-3.2.5, and what CRR-2 says is not validated.
func TestValidateCreate(t *testing.T) {
	noPod := func(r *v1alpha1.ContainerRecreateRequest) { r.Spec.PodName = "" }
	for _, test := range []struct {
		name  string
		given requestEdits
		want  []string
	}{
		{"the least", nil, []string{}},
		{"CRR-3.2.1: podName is empty", requestEdits{noPod}, []string{"spec.podName: Required value: it names the pod whose containers to recreate"}},
		{"CRR-3.2.2: no containers", requestEdits{containers()}, []string{"spec.containers: Required value: it names the containers to recreate, at least one"}},
		{"CRR-3.2.3: a deadline of 2 seconds", requestEdits{deadline(2)}, []string{"spec.activeDeadlineSeconds: Invalid value: 2: must be 3 or more"}},
		{"CRR-3.2.3: a deadline of 3 seconds", requestEdits{deadline(3)}, []string{}},
		{"CRR-3.2.4: terminationGracePeriodSeconds is negative", requestEdits{grace(-1)}, []string{"spec.strategy.terminationGracePeriodSeconds: Invalid value: -1: must be 0 or more"}},
		{"CRR-3.2.4: terminationGracePeriodSeconds is 0", requestEdits{grace(0)}, []string{}},
		{"CRR-3.2.4: unreadyGracePeriodSeconds is negative", requestEdits{unready(-1)}, []string{"spec.strategy.unreadyGracePeriodSeconds: Invalid value: -1: must be 0 or more"}},
		{"CRR-3.2.4: unreadyGracePeriodSeconds is 0", requestEdits{unready(0)}, []string{}},
		{"CRR-3.2.5: an unknown failurePolicy", requestEdits{policy("fail")}, []string{`spec.strategy.failurePolicy: Unsupported value: "fail": supported values: "Fail", "Ignore"`}},
		{"CRR-3.2.5: the known ones", requestEdits{policy("Ignore")}, []string{}},
		{"in the order of the checks", requestEdits{noPod, containers(), deadline(0), policy("x"), unready(-1)}, []string{
			"spec.podName: Required value: it names the pod whose containers to recreate",
			"spec.containers: Required value: it names the containers to recreate, at least one",
			"spec.activeDeadlineSeconds: Invalid value: 0: must be 3 or more",
			"spec.strategy.unreadyGracePeriodSeconds: Invalid value: -1: must be 0 or more",
			`spec.strategy.failurePolicy: Unsupported value: "x": supported values: "Fail", "Ignore"`,
		}},
		{"CRR-2: the TTL and minStartedSeconds are not validated", requestEdits{ttl(-1), func(r *v1alpha1.ContainerRecreateRequest) {
			r.Spec.Strategy = &v1alpha1.ContainerRecreateRequestStrategy{MinStartedSeconds: -1}
		}}, []string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, texts(recreate.ValidateCreate(newRequest(test.given...)))); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}

// CRR-3.2.7 to CRR-3.2.10.
func TestValidatePod(t *testing.T) {
	ended := func(phase corev1.PodPhase) *corev1.Pod {
		return runningPod(func(pod *corev1.Pod) { pod.Status.Phase = phase })
	}
	filled := func(c v1alpha1.ContainerRecreateRequestContainer) requestEdits {
		c.Name = "main"
		return requestEdits{func(r *v1alpha1.ContainerRecreateRequest) {
			r.Spec.Containers = []v1alpha1.ContainerRecreateRequestContainer{c}
		}}
	}
	named := func(name string) requestEdits {
		return requestEdits{func(r *v1alpha1.ContainerRecreateRequest) { r.Name = name }}
	}
	const at = "spec.containers[0]"
	for _, test := range []struct {
		name  string
		given requestEdits
		pod   *corev1.Pod
		want  []string
	}{
		{"a running pod", nil, runningPod(), []string{}},
		{"CRR-3.2.7: the pod has ended, and its sidecars run", named("sidecar-termination-" + string(runningPod().UID)), ended(corev1.PodSucceeded), []string{}},
		{"CRR-3.2.7: another pod's sidecars", named("sidecar-termination-1"), ended(corev1.PodSucceeded), []string{`spec.podName: Invalid value: "web-0": the pod has ended, its phase is Succeeded`}},
		{"CRR-3.2.7: the pod is being deleted", nil, runningPod(leaving), []string{`spec.podName: Invalid value: "web-0": the pod is being deleted`}},
		{"CRR-3.2.7: the pod has failed", nil, ended(corev1.PodFailed), []string{`spec.podName: Invalid value: "web-0": the pod has ended, its phase is Failed`}},
		{"CRR-3.2.7: the pod has succeeded", nil, ended(corev1.PodSucceeded), []string{`spec.podName: Invalid value: "web-0": the pod has ended, its phase is Succeeded`}},
		{"CRR-3.2.7: a pending pod may have a container that runs", nil, ended(corev1.PodPending), []string{}},
		{"CRR-3.2.8: no node", nil, runningPod(func(pod *corev1.Pod) { pod.Spec.NodeName = "" }), []string{`spec.podName: Invalid value: "web-0": the pod is not on a node yet`}},
		{"CRR-3.2.10: a static pod", nil, runningPod(mirror), []string{`spec.podName: Invalid value: "web-0": containers of static pods are not recreated`}},
		{"CRR-3.2.9: two containers", requestEdits{containers("side", "main")}, runningPod(), []string{}},
		{"CRR-3.2.9: a container twice", requestEdits{containers("main", "side", "main")}, runningPod(), []string{`spec.containers[2].name: Duplicate value: "main"`}},
		{"CRR-3.2.9: preStop is given", filled(v1alpha1.ContainerRecreateRequestContainer{PreStop: &corev1.LifecycleHandler{}}), runningPod(), []string{at + ".preStop: Forbidden: it is copied from the pod: leave it out"}},
		{"CRR-3.2.9: ports are given", filled(v1alpha1.ContainerRecreateRequestContainer{Ports: []corev1.ContainerPort{{}}}), runningPod(), []string{at + ".ports: Forbidden: it is copied from the pod: leave it out"}},
		{"CRR-3.2.9: statusContext is given", filled(v1alpha1.ContainerRecreateRequestContainer{StatusContext: &v1alpha1.ContainerRecreateRequestContainerContext{}}), runningPod(), []string{at + ".statusContext: Forbidden: it is copied from the pod: leave it out"}},
		{"CRR-3.2.9: no such container", requestEdits{containers("other")}, runningPod(), []string{at + `.name: Invalid value: "other": pod web-0 has no such container; init and ephemeral containers cannot be recreated`}},
		{"CRR-3.2.9: an init container", requestEdits{containers("init")}, runningPod(func(pod *corev1.Pod) {
			pod.Spec.InitContainers = []corev1.Container{{Name: "init"}}
			pod.Status.InitContainerStatuses = []corev1.ContainerStatus{status("init", "containerd://i", 0, created)}
		}), []string{at + `.name: Invalid value: "init": pod web-0 has no such container; init and ephemeral containers cannot be recreated`}},
		{"CRR-3.2.9, EJ-25: an ephemeral container", requestEdits{containers("debug")}, runningPod(debugged), []string{at + `.name: Invalid value: "debug": pod web-0 has no such container; init and ephemeral containers cannot be recreated`}},
		{"EJ-25: beside an ephemeral container", requestEdits{containers("main")}, runningPod(debugged), []string{}},
		{"CRR-3.2.9: a container without a status", nil, runningPod(func(pod *corev1.Pod) { pod.Status.ContainerStatuses = nil }), []string{at + `.name: Invalid value: "main": the kubelet has not reported a status of the container yet`}},
		{"CRR-3.2.9: a container that was never started", nil, runningPod(func(pod *corev1.Pod) { pod.Status.ContainerStatuses[0].ContainerID = "" }), []string{at + `.name: Invalid value: "main": the container has not been started yet`}},
		{"CRR-3.2.7 comes before CRR-3.2.9", requestEdits{containers("other")}, runningPod(leaving), []string{`spec.podName: Invalid value: "web-0": the pod is being deleted`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, texts(recreate.ValidatePod(newRequest(test.given...), test.pod))); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}

// CRR-3.1.
func TestValidateUpdate(t *testing.T) {
	label := func(key, value string) func(*v1alpha1.ContainerRecreateRequest) {
		return func(r *v1alpha1.ContainerRecreateRequest) { r.Labels[key] = value }
	}
	hook := func(h *corev1.LifecycleHandler) func(*v1alpha1.ContainerRecreateRequest) {
		return func(r *v1alpha1.ContainerRecreateRequest) { r.Spec.Containers[0].PreStop = h }
	}
	sleep := &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 3}}
	const changed = "spec: Forbidden: spec of ContainerRecreateRequest is immutable: create another one"
	for _, test := range []struct {
		name     string
		old, new requestEdits
		want     string // empty: accepted
	}{
		{"nothing changes", nil, nil, ""},
		{"the spec changes: podName", nil, requestEdits{func(r *v1alpha1.ContainerRecreateRequest) { r.Spec.PodName = "web-1" }}, changed},
		{"the spec changes: a container more", nil, requestEdits{containers("main", "side")}, changed},
		{"the spec changes: a deadline", nil, requestEdits{deadline(30)}, changed},
		{"the spec changes: a TTL goes", requestEdits{ttl(5)}, nil, changed},
		{"the spec changes: the strategy", nil, requestEdits{unready(0)}, changed},
		{"the spec changes: the hook", nil, requestEdits{hook(&corev1.LifecycleHandler{Exec: &corev1.ExecAction{}})}, changed},
		{"the spec changes: a new kind of hook comes", nil, requestEdits{hook(sleep)}, changed},
		{"a client does not know a hook", requestEdits{hook(sleep)}, requestEdits{hook(&corev1.LifecycleHandler{})}, ""},
		{"a client does not know a hook, and changes something", requestEdits{hook(sleep)}, requestEdits{hook(&corev1.LifecycleHandler{}), deadline(30)}, changed},
		{"a client leaves out defaults", requestEdits{policy("Fail")}, requestEdits{func(r *v1alpha1.ContainerRecreateRequest) { r.Spec.Strategy = nil }}, ""},
		{"label pod-uid changes", nil, requestEdits{label("crr.apps.kruise.io/pod-uid", "v")}, `metadata.labels[crr.apps.kruise.io/pod-uid]: Forbidden: it is immutable and has to stay "u"`},
		{"label node-name changes", nil, requestEdits{label("crr.apps.kruise.io/node-name", "v")}, `metadata.labels[crr.apps.kruise.io/node-name]: Forbidden: it is immutable and has to stay "node-1"`},
		{"label node-name goes", nil, requestEdits{func(r *v1alpha1.ContainerRecreateRequest) { delete(r.Labels, "crr.apps.kruise.io/node-name") }}, `metadata.labels[crr.apps.kruise.io/node-name]: Forbidden: it is immutable and has to stay "node-1"`},
		{"label active changes", nil, requestEdits{label("crr.apps.kruise.io/active", "false")}, ""},
		{"label active goes", nil, requestEdits{inactive}, ""},
		{"annotation unready-acquired comes", nil, requestEdits{annotated(acquired, "2024-05-01T12:00:00Z")}, ""},
		{"annotation unready-acquired was empty", requestEdits{annotated(acquired, "")}, requestEdits{annotated(acquired, "2024-05-01T12:00:00Z")}, ""},
		{"PR-13: annotation unready-acquired changes", requestEdits{annotated(acquired, "then")}, requestEdits{annotated(acquired, "now")}, `metadata.annotations[crr.apps.kruise.io/unready-acquired]: Forbidden: it is immutable once set and has to stay "then"`},
		{"annotation unready-acquired goes", requestEdits{annotated(acquired, "then")}, nil, `metadata.annotations[crr.apps.kruise.io/unready-acquired]: Forbidden: it is immutable once set and has to stay "then"`},
		{"annotation sync-container-statuses changes", requestEdits{annotated(syncAnnotation, "[]")}, requestEdits{annotated(syncAnnotation, "?")}, ""},
		{"finalizers change", requestEdits{held("a/b")}, nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := []string{}
			if test.want != "" {
				want = append(want, test.want)
			}
			if diff := cmp.Diff(want, texts(recreate.ValidateUpdate(request(test.new...), request(test.old...)))); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}
