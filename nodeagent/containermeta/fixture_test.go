// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/patches"
)

// now is the time of all snapshots.
var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// The hashes of the environments that pods of tests have (CM-4.1).
const (
	noEnvHash   = 86995377   // no variable from metadata
	versionHash = 143497458  // A=1
	emptyHash   = 3524302846 // A is empty
)

// words are those of testdata/words.yaml.
var words = patches.Read("testdata/words.yaml", now)

// newPod returns a pod of a CloneSet with the containers main and side, changed by words.
func newPod(name string, changes ...string) *corev1.Pod {
	pod := patches.Changed(words, &corev1.Pod{}, append([]string{"cloned"}, changes...)...)
	pod.Name = name
	return pod
}

// running gives a pod the statuses of containers with these IDs, main first; "-" stands for none.
func running(pod *corev1.Pod, ids ...string) *corev1.Pod {
	for i, id := range ids {
		status := corev1.ContainerStatus{Name: pod.Spec.Containers[i].Name}
		if id != "-" {
			status.ContainerID = "containerd://" + id
		}
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, status)
	}
	return pod
}

// report gives a pod an annotation with these entries.
func report(pod *corev1.Pod, entries ...inplacev1alpha1.RuntimeContainer) {
	value, err := json.Marshal(inplacev1alpha1.RuntimeContainersMeta{Containers: entries})
	if err != nil {
		panic(err)
	}
	pod.Annotations[inplacev1alpha1.RuntimeContainersMetaAnnotation] = string(value)
}

// reportedAs is an entry of the annotation, of a container that was never restarted.
func reportedAs(name, id string, plain, env uint64) inplacev1alpha1.RuntimeContainer {
	return inplacev1alpha1.RuntimeContainer{Name: name, ContainerID: "containerd://" + id,
		Hashes: inplacev1alpha1.RuntimeContainerHashes{PlainHash: plain, ExtractedEnvFromMetadataHash: env}}
}

// created returns a running container as the kubelet creates it, with the hash
// 0x10 for main and 0x20 for others, changed by words.
func created(name, id string, at int64, changes ...string) *criv1.Container {
	hash := "20"
	if name == "main" {
		hash = "10"
	}
	return patches.Changed(words, &criv1.Container{
		Id: id, CreatedAt: at, State: criv1.ContainerState_CONTAINER_RUNNING, Metadata: &criv1.ContainerMetadata{Name: name},
		Labels:      map[string]string{"io.kubernetes.container.name": name},
		Annotations: map[string]string{"io.kubernetes.container.hash": hash, "io.kubernetes.container.restartCount": "0"},
	}, changes...)
}

// known are environments of containers, as "id A=1".
func known(id string, all ...string) map[string]Environment {
	return map[string]Environment{id: {Values: variables(all)}}
}
