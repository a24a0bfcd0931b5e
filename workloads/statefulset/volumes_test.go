// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/workloads/v1beta1"
)

func gigabytes(n int) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(fmt.Sprintf("%dGi", n))}
}

// grown has the rolling update grow claims: the template data asks for so many Gi, and each pod has a claim that a word
// describes. "10/5" asks for 10 and has 5, "10" has what it asks for, and "-" is no claim. A suffix "fs" has a file system that
// grows with the pod, "x" another class, "u" no volume yet. The suffix "!" has a resize that failed, and "!o" one that a user
// began.
func grown(want int, claims string) edit {
	return func(s *Snapshot) {
		s.Features.ResizeClaims = true
		s.Set.Spec.VolumeClaimUpdateStrategy = &v1beta1.StatefulSetVolumeClaimUpdateStrategy{Type: v1beta1.OnPodRollingUpdateVolumeClaimUpdateStrategyType}
		s.Set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"},
			Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: new("fast"), Resources: corev1.VolumeResourceRequirements{Requests: gigabytes(want)}}}}
		s.Classes = map[string]*storagev1.StorageClass{"fast": {AllowVolumeExpansion: new(true)}}
		for i, word := range strings.Fields(claims) {
			name := "data-" + s.Pods[i].Name
			s.Pods[i].Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}}}
			if word == "-" {
				continue
			}
			s.Claims[name] = claimOfWord(name, word)
		}
	}
}

func claimOfWord(name, word string) *corev1.PersistentVolumeClaim {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "uid"}, Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: new("fast")}}
	sizes := strings.TrimRight(word, "fsxuo!")
	asks, has := 0, 0
	if _, err := fmt.Sscanf(sizes, "%d/%d", &asks, &has); err != nil {
		_, _ = fmt.Sscanf(sizes, "%d", &asks)
		has = asks
	}
	claim.Spec.Resources.Requests, claim.Status.Capacity = gigabytes(asks), gigabytes(has)
	switch strings.TrimPrefix(word, sizes) {
	case "fs":
		claim.Status.Conditions = []corev1.PersistentVolumeClaimCondition{{Type: corev1.PersistentVolumeClaimFileSystemResizePending, Status: corev1.ConditionTrue}}
	case "!", "!o":
		claim.Status.Conditions = []corev1.PersistentVolumeClaimCondition{{Type: corev1.PersistentVolumeClaimControllerResizeError, Status: corev1.ConditionTrue}}
		if word = strings.TrimPrefix(word, sizes); word == "!" {
			claim.Annotations = map[string]string{"apps.kruise.io/owned-by-asts": "web"}
		}
	case "u":
		claim.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
	case "x":
		claim.Spec.StorageClassName = new("slow")
	}
	return claim
}

// resized names the claims that a plan resizes.
func resized(p *Plan) string {
	var names []string
	for _, c := range p.ResizeClaims {
		names = append(names, strings.TrimPrefix(c.Claim.Name, "data-web-")+"="+c.Resources.Requests.Storage().String())
	}
	return strings.Join(names, " ")
}

// growLogs has the first pod mount a second claim, logs, of a template that asks for so many Gi. A word describes the claim, as of grown.
func growLogs(s *Snapshot, want int, word string) {
	template := s.Set.Spec.VolumeClaimTemplates[0].DeepCopy()
	template.Name, template.Spec.Resources.Requests = "logs", gigabytes(want)
	s.Set.Spec.VolumeClaimTemplates = append(s.Set.Spec.VolumeClaimTemplates, *template)
	claim := claimOfWord("logs-web-0", word)
	s.Claims[claim.Name] = claim
	s.Pods[0].Spec.Volumes = append(s.Pods[0].Spec.Volumes, corev1.Volume{Name: "logs", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name}}})
}
