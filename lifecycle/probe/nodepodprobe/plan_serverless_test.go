// SPDX-License-Identifier: Apache-2.0

package nodepodprobe

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// virtualNode is node-1, for which a virtual kubelet stands.
func virtualNode() *corev1.Node {
	return newNode(func(n *corev1.Node) { n.Labels = map[string]string{"type": "virtual-kubelet"} })
}

// PPM-3.6, PPM-3.9: a marker concerns the nodes of the pods that it keeps, which no NodePodProbe names.
func TestServerlessMarkersThatMatter(t *testing.T) {
	moves := newMarker("moves", newProbe("idle", "Idle", sets(v1alpha1.ProbeSucceeded, "app=idle")))
	kept := newPod("web-0", "annotation="+v1alpha1.PodProbeMarkersAnnotation+":moves", "label=app:idle")
	other := newPod("web-1", "label=app:idle", "node=node-2")
	for serverless, want := range map[bool][]string{true: {"node-1"}, false: nil} {
		o := cached(t, newSnapshot(nil, []*corev1.Pod{kept, other}, moves))
		o.Features.Serverless = serverless
		var got []string
		o.markerChanged(moves, moves, func(key types.NamespacedName) { got = append(got, key.Name) })
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("PPM-3.9: serverless %t: %v are enqueued, want %v", serverless, got, want)
		}
	}
	ended := moves.DeepCopy()
	ended.DeletionTimestamp = &metav1.Time{Time: now}
	o := cached(t, newSnapshot(nil, []*corev1.Pod{kept}, ended))
	o.Features.Serverless = true
	o.markerChanged(moves, ended, func(key types.NamespacedName) {
		if key.Name != "node-1" {
			t.Errorf("PPM-3.9: %s is enqueued", key)
		}
	})
}
