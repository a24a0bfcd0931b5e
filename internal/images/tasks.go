// SPDX-License-Identifier: Apache-2.0

package images

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

const jobKind = "ImagePullJob"

// FindTask returns the task to pull an image, nil if the node has none. It is
// shared with the NodeImage.
func FindTask(n *v1alpha1.NodeImage, image Reference) *v1alpha1.ImageTagSpec {
	tags := n.Spec.Images[image.Name()].Tags
	if i := slices.IndexFunc(tags, func(t v1alpha1.ImageTagSpec) bool { return t.Tag == image.Version() }); i >= 0 {
		return &tags[i]
	}
	return nil
}

// StatusOf returns what the node reports about a tag of an image, nil if
// that is nothing. It is shared with the NodeImage.
func StatusOf(n *v1alpha1.NodeImage, name, tag string) *v1alpha1.ImageTagStatus {
	return StateOf(&n.Status, name, tag)
}

// StateOf is StatusOf for the status of a NodeImage.
func StateOf(status *v1alpha1.NodeImageStatus, name, tag string) *v1alpha1.ImageTagStatus {
	tags := status.ImageStatuses[name].Tags
	if i := slices.IndexFunc(tags, func(t v1alpha1.ImageTagStatus) bool { return t.Tag == tag }); i >= 0 {
		return &tags[i]
	}
	return nil
}

// CountTasks counts the tasks of a node by phase, in its status.
func CountTasks(status *v1alpha1.NodeImageStatus, spec *v1alpha1.NodeImageSpec) {
	status.Desired, status.Succeeded, status.Failed, status.Pulling, status.Waiting = 0, 0, 0, 0, 0
	for _, image := range spec.Images {
		status.Desired += int32(len(image.Tags))
	}
	for _, image := range status.ImageStatuses {
		for _, tag := range image.Tags {
			switch tag.Phase {
			case v1alpha1.ImagePhaseSucceeded:
				status.Succeeded++
			case v1alpha1.ImagePhaseFailed:
				status.Failed++
			case v1alpha1.ImagePhasePulling:
				status.Pulling++
			case v1alpha1.ImagePhaseWaiting:
				status.Waiting++
			}
		}
	}
}

// TaskReference is how a task asks for its image: nginx:1.27, or nginx@sha256:….
func TaskReference(image, tag string) string {
	if strings.Contains(tag, ":") { // a digest
		return image + "@" + tag
	}
	return image + ":" + tag
}

// TaskOwner is the reference to a job that wants a task.
func TaskOwner(job *v1alpha1.ImagePullJob) corev1.ObjectReference {
	return corev1.ObjectReference{
		APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: jobKind,
		Namespace: job.Namespace, Name: job.Name, UID: job.UID,
	}
}

// IsTaskOwner tells whether the one with that UID wants a task.
func IsTaskOwner(task *v1alpha1.ImageTagSpec, uid types.UID) bool {
	return slices.ContainsFunc(task.OwnerReferences, func(o corev1.ObjectReference) bool { return o.UID == uid })
}

// TaskJob returns the name of the job that an owner reference means; false if
// the owner is of another kind.
func TaskJob(owner corev1.ObjectReference) (types.NamespacedName, bool) {
	version, err := schema.ParseGroupVersion(owner.APIVersion)
	if err != nil || version.Group != v1alpha1.GroupName || owner.Kind != jobKind {
		return types.NamespacedName{}, false
	}
	return types.NamespacedName{Namespace: owner.Namespace, Name: owner.Name}, true
}

// TaskJobs returns the references to jobs in all tasks of a node, in any order; one
// that wants several tasks stands there several times.
func TaskJobs(n *v1alpha1.NodeImage) (owners []corev1.ObjectReference) {
	for _, image := range n.Spec.Images {
		for i := range image.Tags {
			for _, owner := range image.Tags[i].OwnerReferences {
				if _, ok := TaskJob(owner); ok {
					owners = append(owners, owner)
				}
			}
		}
	}
	return owners
}

// Spread returns a number from 0 up to below, spread evenly over different
// keys and always the same for the same ones. It takes the place of a random
// number if a plan has to be repeatable.
func Spread(below int32, keys ...string) int32 {
	sum := sha256.Sum256([]byte(strings.Join(keys, "\x00")))
	return int32(binary.BigEndian.Uint64(sum[:]) % uint64(below))
}

// Patch returns the merge patch that makes of an object as it was observed what
// after says. Of it, before and after are the parts of it that may change. The API
// server refuses the patch on any other state of the object. If of has no
// resourceVersion, only on another object of the same name.
func Patch(of metav1.Object, before, after any) ([]byte, error) {
	was, err := json.Marshal(before)
	if err != nil {
		return nil, fmt.Errorf("encode what is to be patched: %w", err)
	}
	is, err := json.Marshal(after)
	if err != nil {
		return nil, fmt.Errorf("encode the change: %w", err)
	}
	patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(was, is, was)
	if err != nil {
		return nil, fmt.Errorf("compute a patch: %w", err)
	}
	var fields map[string]any
	if err := json.Unmarshal(patch, &fields); err != nil {
		return nil, fmt.Errorf("compute a patch: %w", err)
	}
	metadata, _ := fields["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
	}
	metadata["uid"] = of.GetUID()
	if version := of.GetResourceVersion(); version != "" {
		metadata["resourceVersion"] = version
	}
	fields["metadata"] = metadata
	return json.Marshal(fields)
}
