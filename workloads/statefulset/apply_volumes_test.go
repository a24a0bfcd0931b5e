// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

// STS-42: without another reader classes are read from the API server, each once, and those alone that are asked about.
func TestClassesAreReadFromTheServer(t *testing.T) {
	kube := fake.NewClientset(&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "fast"}, AllowVolumeExpansion: new(true)})
	r := &reconciler{options: Options{Kubernetes: kube}}
	logs := func(s *Snapshot) {
		template := s.Set.Spec.VolumeClaimTemplates[0].DeepCopy()
		template.Name = "logs"
		s.Set.Spec.VolumeClaimTemplates = append(s.Set.Spec.VolumeClaimTemplates, *template)
		s.Claims["logs-web-1"] = claimOfWord("logs-web-1", "5")
		s.Pods[1].Spec.Volumes = append(s.Pods[1].Spec.Volumes, corev1.Volume{Name: "logs", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "logs-web-1"}}})
	}
	for _, test := range []struct {
		claims string
		reads  int
		edits  []edit
	}{
		{"10 10 20", 1, nil},
		{"20 10 20", 1, nil},
		{"20 20 20", 0, nil},
		{"10x 10x 10x", 0, nil},
		{"20 20 20", 1, []edit{logs}}, // of the second claim of a pod
		{"10 10 10", 0, []edit{func(s *Snapshot) { s.Set.Spec.VolumeClaimUpdateStrategy = nil }}},
	} {
		s := testSnapshot(t, "A", "A", "0A 1A 2A", append([]edit{grown(20, test.claims)}, test.edits...)...)
		s.Classes = nil
		kube.ClearActions()
		if err := r.observeClasses(t.Context(), s); err != nil || len(kube.Actions()) != test.reads || len(s.Classes) != test.reads {
			t.Errorf("claims %s: %d reads, classes %v, error %v; want %d", test.claims, len(kube.Actions()), s.Classes, err, test.reads)
		}
		if class := s.Classes["fast"]; test.reads > 0 && (class == nil || !*class.AllowVolumeExpansion) {
			t.Errorf("claims %s: class %v", test.claims, class)
		}
	}
}
