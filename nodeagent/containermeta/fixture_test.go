// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/ptr"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecri"
)

// now is the time of all snapshots.
var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// The hashes of the environments that pods of tests have (CM-4.1).
const (
	noEnvHash   = 86995377   // no variable from metadata
	versionHash = 143497458  // A=1
	emptyHash   = 3524302846 // A is empty
)

// fromAnnotation is a variable whose value is that of an annotation.
func fromAnnotation(name, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations['" + key + "']"}}}
}

// newPod returns a pod of a CloneSet with the containers main, which has the
// variable A from the annotation version, and side, which has none.
func newPod(name string, change ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, Annotations: map[string]string{"version": "1"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "web", UID: "web", Controller: ptr.To(true)}},
		},
		Spec: corev1.PodSpec{
			NodeName: "node-1", TerminationGracePeriodSeconds: ptr.To[int64](30),
			ReadinessGates: []corev1.PodReadinessGate{{ConditionType: inplacev1alpha1.InPlaceUpdateReady}},
			Containers: []corev1.Container{
				{Name: "main", Image: "nginx:1.0", Env: []corev1.EnvVar{fromAnnotation("A", "version")}},
				{Name: "side", Image: "envoy:1.0"},
			},
		},
	}
	for _, c := range change {
		c(pod)
	}
	return pod
}

// running gives a pod the statuses of containers with these IDs, main first.
func running(ids ...string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		for i, id := range ids {
			status := corev1.ContainerStatus{Name: pod.Spec.Containers[i].Name}
			if id != "" {
				status.ContainerID = "containerd://" + id
			}
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, status)
		}
	}
}

// reporting gives a pod an annotation with these entries.
func reporting(entries ...inplacev1alpha1.RuntimeContainer) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		value, err := json.Marshal(inplacev1alpha1.RuntimeContainersMeta{Containers: entries})
		if err != nil {
			panic(err)
		}
		pod.Annotations[inplacev1alpha1.RuntimeContainersMetaAnnotation] = string(value)
	}
}

// reportedAs is an entry of the annotation, of a container that was never restarted.
func reportedAs(name, id string, plain, env uint64) inplacev1alpha1.RuntimeContainer {
	return inplacev1alpha1.RuntimeContainer{Name: name, ContainerID: "containerd://" + id,
		Hashes: inplacev1alpha1.RuntimeContainerHashes{PlainHash: plain, ExtractedEnvFromMetadataHash: env}}
}

// condition gives a pod the condition of its in-place update.
func condition(status corev1.ConditionStatus) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.Conditions = []corev1.PodCondition{{Type: inplacev1alpha1.InPlaceUpdateReady, Status: status}}
	}
}

// annotated sets an annotation.
func annotated(key, value string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Annotations[key] = value }
}

// env replaces the variables of the container main.
func env(variables ...corev1.EnvVar) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Spec.Containers[0].Env = variables }
}

// created returns a running container as the kubelet creates it, with the hash
// 0x10 for main and 0x20 for others.
func created(name, id string, at int64, change ...func(*criv1.Container)) *criv1.Container {
	hash := "20"
	if name == "main" {
		hash = "10"
	}
	c := &criv1.Container{
		Id: id, CreatedAt: at, State: criv1.ContainerState_CONTAINER_RUNNING, Metadata: &criv1.ContainerMetadata{Name: name},
		Labels:      map[string]string{"io.kubernetes.container.name": name},
		Annotations: map[string]string{"io.kubernetes.container.hash": hash, "io.kubernetes.container.restartCount": "0"},
	}
	for _, change := range change {
		change(c)
	}
	return c
}

func exited(c *criv1.Container) { c.State = criv1.ContainerState_CONTAINER_EXITED }

func cri(key, value string) func(*criv1.Container) {
	return func(c *criv1.Container) { c.Annotations[key] = value }
}

// known are environments of containers, as "id A=1".
func known(id string, all ...string) map[string]Environment {
	return map[string]Environment{id: {Values: variables(all)}}
}

// run creates the containers of a pod in a runtime.
func run(fake *fakecri.Runtime, pod *corev1.Pod) error {
	kubelet := fakecri.Kubelet{Runtime: fake}
	if err := kubelet.Run(pod); err != nil {
		return fmt.Errorf("run pod %s: %w", pod.Name, err)
	}
	return nil
}
