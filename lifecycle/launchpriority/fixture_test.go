// SPDX-License-Identifier: Apache-2.0

package launchpriority

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/lifecycle/launchpriority/barrier"
)

// podOf returns the pod web, which the kubelet has looked at. Its containers have barriers and
// states: in "main=0:waiting log=5:ready side:running" the container side has no barrier.
// States are ready, running, waiting, refused, ok and failed (ended), and none if the kubelet
// has not reported on the container.
func podOf(t *testing.T, containers string, changes ...func(*corev1.Pod)) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "uid"}}
	allReady := corev1.ConditionTrue
	for given := range strings.FieldsSeq(containers) {
		given, state, _ := strings.Cut(given, ":")
		name, priority, has := strings.Cut(given, "=")
		c := corev1.Container{Name: name}
		if has {
			c.Env = []corev1.EnvVar{waits("web-barrier", "p_"+priority)}
		}
		pod.Spec.Containers = append(pod.Spec.Containers, c)
		if state != "ready" {
			allReady = corev1.ConditionFalse
		}
		if state != "" {
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, statusIn(t, name, state))
		}
	}
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.ContainersReady, Status: allReady}}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func statusIn(t *testing.T, name, state string) corev1.ContainerStatus {
	t.Helper()
	states := map[string]corev1.ContainerState{
		"ready":   {Running: &corev1.ContainerStateRunning{}},
		"running": {Running: &corev1.ContainerStateRunning{}},
		"waiting": {Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}},
		"refused": {Waiting: &corev1.ContainerStateWaiting{Reason: "CreateContainerConfigError"}},
		"ok":      {Terminated: &corev1.ContainerStateTerminated{}},
		"failed":  {Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}},
	}
	if _, known := states[state]; !known {
		t.Fatalf("state %q of container %s", state, name)
	}
	return corev1.ContainerStatus{Name: name, Ready: state == "ready", State: states[state]}
}

func waits(configMap, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: "KRUISE_CONTAINER_BARRIER", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: configMap}, Key: key,
	}}}
}

// configMapOf returns the ConfigMap of a pod web with that UID, and with keys;
// nil if the UID is empty.
func configMapOf(uid types.UID, keys ...string) *corev1.ConfigMap {
	if uid == "" {
		return nil
	}
	c := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: barrier.ConfigMapName("web"), UID: "uid-of-the-configmap",
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "web", UID: uid}},
		},
		Data: map[string]string{},
	}
	for _, key := range keys {
		c.Data[key] = "true"
	}
	return c
}

// describe shows a plan in a few words.
func describe(p *Plan) string {
	var all []string
	if p.Create != nil {
		all = append(all, "create")
		for key := range p.Create.Data {
			all = append(all, key)
		}
	}
	if len(p.Add) > 0 {
		all = append(all, "add", strings.Join(p.Add, " "))
	}
	if len(p.Problems) > 0 {
		all = append(all, "report")
	}
	if p.RequeueAfter > 0 {
		all = append(all, fmt.Sprint("again in ", p.RequeueAfter))
	}
	if len(all) == 0 {
		return "nothing"
	}
	return strings.Join(all, " ")
}
