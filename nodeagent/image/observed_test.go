// SPDX-License-Identifier: Apache-2.0

package image

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// alsoOf has a job want all tasks of nginx.
func alsoOf(job string) change {
	return func(n *v1alpha1.NodeImage) {
		tags := n.Spec.Images["nginx"].Tags
		for i := range tags {
			tags[i].OwnerReferences = append(tags[i].OwnerReferences, corev1.ObjectReference{
				APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "ImagePullJob", Namespace: "default", Name: job})
		}
	}
}

// IMG-2.6: the generation that the agent has seen goes with its reports, and by itself when a change of the spec brings none.
func TestObservedGeneration(t *testing.T) {
	play(t, func(n *node) {
		expect := func(moment string, late int64, requests ...string) {
			n.Helper()
			n.Sleep(5 * time.Second)
			of := n.nodeImage()
			if of.Status.ObservedGeneration != of.Generation-late || of.Generation == 0 {
				n.Errorf("%s: the agent has seen generation %d of %d", moment, of.Status.ObservedGeneration, of.Generation)
			}
			n.Want(moment, requests, n.Sent(n.user()))
		}
		n.takes(time.Minute)
		n.start()
		expect("the pull begins", 0, "1 patch nodeimages/status")
		n.edit(alsoOf("second"))
		expect("another job wants the image", 0, "1 patch nodeimages/status")
		n.Sleep(time.Minute)
		expect("the pull has ended", 0, "1 patch nodeimages/status")
		n.edit(no("nginx"))
		expect("the task is gone", 0, "1 patch nodeimages/status")
		n.patchStatus(`{"status":{"observedGeneration":null}}`)
		n.edit(func(n *v1alpha1.NodeImage) {
			n.Spec.Images = map[string]v1alpha1.ImageSpec{"redis": {Tags: []v1alpha1.ImageTagSpec{}}}
		})
		expect("a status that has none, as where the CRD does not have the field", n.nodeImage().Generation)
	}, wants("nginx", "1"), alsoOf("first"))
}
