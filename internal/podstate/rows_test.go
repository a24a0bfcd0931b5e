// SPDX-License-Identifier: Apache-2.0

package podstate_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/internal/testing/patches"
)

// row is a line of testdata/rows: a pod, and what is asked about it.
type row struct {
	Pod       corev1.Pod
	Container string              // its name
	Updated   *metav1.Time        // in place, after the creation
	Limits    corev1.ResourceList // of its first container, one quantity after the other
}

// TestRows plays the tables of pods, see patches.PlayRows. They show:
//
//	phase       whether a pod has ended, and is active
//	container   what is found of a container
//	ready       whether a pod was never ready, since its creation or its last update in place
//	class       the class of quality of service
func TestRows(t *testing.T) {
	patches.PlayRows(t, "testdata/rows", func() row { return row{} }, func(_ *testing.T, command string, r *row) string {
		pod := &r.Pod
		switch command {
		case "phase":
			return fmt.Sprintf("ended %t, active %t", podstate.Ended(pod), podstate.Active(pod))
		case "container":
			found := fmt.Sprintf("ready %t", podstate.ContainerReady(pod, r.Container))
			if c := podstate.Container(pod, r.Container); c != nil {
				found += ", of image " + c.Image
			}
			if s := podstate.ContainerStatus(pod, r.Container); s != nil {
				found += ", runs as " + s.ContainerID
			}
			return found
		case "ready":
			since := pod.CreationTimestamp
			if r.Updated != nil {
				since = *r.Updated
			}
			return fmt.Sprintf("never ready %t", podstate.NeverReady(pod, since.Time))
		}
		for name, quantity := range r.Limits {
			podstate.SetQuantity(&pod.Spec.Containers[0].Resources.Limits, name, quantity)
		}
		return string(podstate.QOSClass(&pod.Spec))
	})
}
