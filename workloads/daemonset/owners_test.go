// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Events of a pod concern the DaemonSet that owns it, in whichever version the reference names it. (DS-V3, PF-5.3)
func TestPodsOfBothVersions(t *testing.T) {
	for apiVersion, want := range map[string][]types.NamespacedName{
		"apps.kruise.io/v1alpha1": {{Namespace: "default", Name: "web"}},
		"apps.kruise.io/v1beta1":  {{Namespace: "default", Name: "web"}},
		"apps/v1":                 nil,
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", OwnerReferences: []metav1.OwnerReference{
			{APIVersion: apiVersion, Kind: kind, Name: "web", Controller: new(true)}}}}
		if diff := cmp.Diff(want, setsOfPod(&Options{})(pod)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", apiVersion, diff)
		}
	}
}
